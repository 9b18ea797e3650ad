/** Runs the first pass over logs and adds up what it finds. */

import type { Scan } from '../../agents/agent.ts'
import { guarded } from '../../agents/guarded.ts'
import type { HistorySummary } from '../../amazon-q.ts'
import { type AgentId, type Claim, settleClaims } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { Session } from '../../model/session.ts'
import { addEstimates } from '../../model/tokens/estimate.ts'
import { addSpent, NOTHING_SPENT, type PriceList, spentOn } from '../../model/tokens/prices.ts'
import { addCostTo, addTo, type DayOf, mergeTotals, noTotals, type Totals } from '../../model/totals.ts'
import { addUsage, NO_USAGE } from '../../model/usage.ts'
import type { Log } from '../../normalize.ts'
import type { Progress } from '../progress.ts'

export interface Sum {
  readonly totals: Totals
  /** Of the conversations that are told in entries. */
  readonly histories: readonly HistorySummary[]
  readonly issues: readonly Issue[]
}

export interface Measures {
  readonly dayOf: DayOf
  readonly prices: PriceList
}

export async function totalsOf(logs: readonly Log[], measures: Measures, progress: Progress): Promise<Sum> {
  const found: Found[] = []
  const issues: Issue[] = []
  for (const log of logs) {
    if (!log.unknown) for await (const one of sessionsOf(log, measures, progress, issues)) found.push(one)
    progress.done(log)
  }
  return { ...addUp(found), issues }
}

/** What a session adds. There may be very many: nothing is kept of one that is not needed to add it up. */
interface Found {
  readonly claim: Claim
  readonly cwd: string | undefined
  readonly agent: AgentId
  readonly lines: number
  readonly messages: number
  /** Tools and tokens, where there are any. */
  readonly used: Totals | undefined
  readonly history: HistorySummary | undefined
}

/** One for each conversation of the log. What follows a header belongs to it. */
async function* sessionsOf(log: Log, measures: Measures, progress: Progress, issues: Issue[]): AsyncGenerator<Found> {
  let open = new Counting(measures)
  for await (const batch of guarded(log.source, log.agent.scan(log.source))) {
    for (const one of batch) {
      if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
      if (one.kind === 'cursor') progress.at(log, one.cursor.offset ?? 0)
      if (one.kind === 'session' && open.session && open.session.id !== one.session.id) {
        const found = open.end()
        if (found) yield found
        open = new Counting(measures)
      }
      open.add(one)
    }
  }
  const found = open.end()
  if (found) yield found
}

class Counting {
  session: Session | undefined
  readonly #measures: Measures
  #lines = 0
  #messages = 0
  #used: Totals | undefined
  #history: HistorySummary | undefined

  constructor(measures: Measures) {
    this.#measures = measures
  }

  add(one: Scan): void {
    if (one.kind === 'session') this.session = one.session
    if (one.kind === 'history') this.#history = one.summary
    if (one.kind === 'counts') {
      this.#lines += one.counts.lines
      this.#messages += one.counts.messages
      for (const [name, calls] of Object.entries(one.counts.tools)) {
        this.#used ??= noTotals()
        this.#used.tools[name] = (this.#used.tools[name] ?? 0) + calls
      }
    }
    if (one.kind === 'estimate') {
      this.#used ??= noTotals()
      this.#used.estimate = addEstimates(this.#used.estimate, one.estimate)
      this.#used.estimated_sessions = 1
    }
    if (one.kind === 'usage') this.#spend(one)
  }

  #spend({ at, model = 'unknown', usage }: Extract<Scan, { kind: 'usage' }>): void {
    this.#used ??= noTotals()
    const { dayOf, prices } = this.#measures
    const spent = spentOn(usage, model === 'unknown' ? undefined : model, at, prices)
    const { cost } = this.#used
    this.#used.usage = addUsage(this.#used.usage, usage)
    addTo(this.#used.by_model, model, usage)
    addTo(this.#used.by_day, dayOf(at), usage)
    cost.all = addSpent(cost.all, spent)
    addCostTo(cost.by_model, model, spent)
    addCostTo(cost.by_day, dayOf(at), spent)
  }

  /** Nothing when it was no conversation. */
  end(): Found | undefined {
    if (this.session?.kind !== 'conversation') return undefined
    const { id, started_at, first_record, cwd, agent } = this.session
    const claim = { id, at: started_at, first: first_record }
    const counts = { lines: this.#lines, messages: this.#messages, used: this.#used, history: this.#history }
    return { claim, cwd, agent, ...counts }
  }
}

/** Every session counts, but what copies of one session hold counts once: the longest stands for all. */
function addUp(found: readonly Found[]): Pick<Sum, 'totals' | 'histories'> {
  const sum = noTotals()
  const ids = settleClaims(found.map(({ claim }) => claim))
  const longest = new Map<string, Found>()
  found.forEach((one, at) => {
    sum.sessions++
    sum.lines += one.lines
    const id = ids[at] ?? one.claim.id
    const other = longest.get(id)
    if (!other || isLonger(one, other)) longest.set(id, one)
  })
  for (const [id, { cwd, agent, messages, used }] of longest) {
    const usage = used?.usage ?? NO_USAGE
    sum.messages += messages
    if (used) mergeTotals(sum, used)
    const keys = { by_session: id, by_project: cwd ?? 'unknown', by_agent: agent }
    for (const table of ['by_session', 'by_project', 'by_agent'] as const) {
      addTo(sum[table], keys[table], usage)
      addCostTo(sum.cost[table], keys[table], used?.cost.all ?? NOTHING_SPENT)
    }
  }
  return { totals: sum, histories: [...longest.values()].flatMap(({ history }) => history ?? []) }
}

const isLonger = (a: Found, b: Found): boolean => (a.lines === b.lines ? a.messages > b.messages : a.lines > b.lines)

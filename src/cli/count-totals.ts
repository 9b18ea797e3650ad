/** Runs the first pass over logs and adds up the results. */

import type { ScanItem } from '../agents/agent.ts'
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { HistorySummary } from '../amazon-q.ts'
import { type AgentId, assignSessionIds, type Instant, instantFromMs, type SessionClaim } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList } from '../model/prices.ts'
import type { Session } from '../model/session.ts'
import { addEstimates } from '../model/token-estimate.ts'
import { addCostTo, addUsageTo, type DayFormatter, emptyTotals, mergeTotals, type Totals } from '../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { UsageRecord } from '../model/usage-groups.ts'
import type { Log } from '../normalize.ts'
import type { LogProgress } from './progress.ts'

export interface LogTotals {
  readonly totals: Totals
  /** Only for conversations that are stored as entries. */
  readonly histories: readonly HistorySummary[]
  /** Tokens for grouping. */
  readonly records: readonly UsageRecord[]
  readonly issues: readonly Issue[]
}

export interface TotalsOptions {
  readonly dayOf: DayFormatter
  readonly prices: PriceList
}

export async function countTotals(
  logs: readonly Log[],
  options: TotalsOptions,
  progress: LogProgress,
): Promise<LogTotals> {
  const found: SessionCounts[] = []
  const issues: Issue[] = []
  for (const log of logs) {
    if (!log.unknown) for await (const one of countSessions(log, options, progress, issues)) found.push(one)
    progress.done(log.source)
  }
  return { ...addUpSessions(found), issues }
}

const QUARTER_MS = 900_000

/** What one session adds to the totals. Kept small, because there may be very many. */
interface SessionCounts {
  readonly claim: SessionClaim
  readonly cwd: string | undefined
  readonly agent: AgentId
  readonly lines: number
  readonly messages: number
  /** Tools and tokens, if there are any. */
  readonly used: Totals | undefined
  readonly history: HistorySummary | undefined
  readonly records: readonly UsageRecord[]
}

/** One result per conversation of the log. Records belong to the header before them. */
async function* countSessions(
  log: Log,
  options: TotalsOptions,
  progress: LogProgress,
  issues: Issue[],
): AsyncGenerator<SessionCounts> {
  let open = new SessionCounter(options)
  for await (const batch of catchReaderErrors(log.source, log.agent.scan(log.source))) {
    for (const one of batch) {
      if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
      if (one.kind === 'cursor') progress.at(one.cursor.offset ?? 0)
      if (one.kind === 'session' && open.session && open.session.id !== one.session.id) {
        const found = open.end()
        if (found) yield found
        open = new SessionCounter(options)
      }
      open.add(one)
    }
  }
  const found = open.end()
  if (found) yield found
}

/** `2026-01-01T00:00` */
const MINUTE_LENGTH = 16

interface SpentRecord {
  readonly at: Instant | null
  readonly model: string
  usage: Usage
}

class SessionCounter {
  session: Session | undefined
  readonly #options: TotalsOptions
  #lines = 0
  #messages = 0
  #used: Totals | undefined
  #history: HistorySummary | undefined
  /** By quarter of an hour and model. */
  readonly #records = new Map<string, SpentRecord>()
  /** Consecutive reports are mostly of the same minute. */
  #last: { readonly minute: string; readonly day: string; readonly record: SpentRecord } | undefined

  constructor(options: TotalsOptions) {
    this.#options = options
  }

  add(one: ScanItem): void {
    if (one.kind === 'session') this.session = one.session
    if (one.kind === 'history') this.#history = one.summary
    if (one.kind === 'counts') {
      this.#lines += one.counts.lines
      this.#messages += one.counts.messages
      for (const [name, calls] of Object.entries(one.counts.tools)) {
        this.#used ??= emptyTotals()
        this.#used.tools[name] = (this.#used.tools[name] ?? 0) + calls
      }
    }
    if (one.kind === 'estimate') {
      this.#used ??= emptyTotals()
      this.#used.estimate = addEstimates(this.#used.estimate, one.estimate)
      this.#used.estimated_sessions = 1
    }
    if (one.kind === 'usage') this.#spend(one)
  }

  #spend({ at, model = 'unknown', usage }: Extract<ScanItem, { kind: 'usage' }>): void {
    this.#used ??= emptyTotals()
    const { prices } = this.#options
    const { day, record } = this.#placeOf(at, model)
    record.usage = addUsage(record.usage, usage)
    const spent = costOfUsage(usage, model === 'unknown' ? undefined : model, at, prices)
    const { cost } = this.#used
    this.#used.usage = addUsage(this.#used.usage, usage)
    addUsageTo(this.#used.by_model, model, usage)
    addUsageTo(this.#used.by_day, day, usage)
    cost.all = addCosts(cost.all, spent)
    addCostTo(cost.by_model, model, spent)
    addCostTo(cost.by_day, day, spent)
  }

  #placeOf(at: Instant | null, model: string): { readonly day: string; readonly record: SpentRecord } {
    const minute = at?.slice(0, MINUTE_LENGTH) ?? ''
    if (this.#last?.minute === minute && this.#last.record.model === model) return this.#last
    const quarter = at === null ? null : (instantFromMs(Math.floor(Date.parse(at) / QUARTER_MS) * QUARTER_MS) ?? null)
    const key = `${quarter} ${model}`
    const record = this.#records.get(key) ?? { at: quarter, model, usage: NO_USAGE }
    this.#records.set(key, record)
    this.#last = { minute, day: this.#options.dayOf(at), record }
    return this.#last
  }

  /** Undefined if it was not a conversation. */
  end(): SessionCounts | undefined {
    if (this.session?.kind !== 'conversation') return undefined
    const { id, started_at, first_record, cwd, agent } = this.session
    const claim = { id, at: started_at, first: first_record }
    const counts = { lines: this.#lines, messages: this.#messages, used: this.#used, history: this.#history }
    const place = { agent, project: cwd ?? 'unknown', session: id }
    return {
      claim,
      cwd,
      agent,
      ...counts,
      records: Array.from(this.#records.values(), (one) => ({ ...one, ...place })),
    }
  }
}

/** Every copy of a session counts as a session, but only the longest copy adds messages, tools and tokens. */
function addUpSessions(found: readonly SessionCounts[]): Pick<LogTotals, 'totals' | 'histories' | 'records'> {
  const sum = emptyTotals()
  const ids = assignSessionIds(found.map(({ claim }) => claim))
  const longest = new Map<string, SessionCounts>()
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
      addUsageTo(sum[table], keys[table], usage)
      addCostTo(sum.cost[table], keys[table], used?.cost.all ?? NO_COST)
    }
  }
  const kept = [...longest.values()]
  return {
    totals: sum,
    histories: kept.flatMap(({ history }) => history ?? []),
    records: kept.flatMap(({ records }) => records),
  }
}

const isLonger = (a: SessionCounts, b: SessionCounts): boolean =>
  a.lines === b.lines ? a.messages > b.messages : a.lines > b.lines

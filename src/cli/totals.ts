/** Runs the first pass over logs and adds up what it finds. */
import type { HistorySummary } from '../amazon-q.ts'
import { settleClaims } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Session } from '../model/session.ts'
import { addEstimates } from '../model/tokens/estimate.ts'
import { addSpent, type PriceList, spentOn } from '../model/tokens/prices.ts'
import { addCostTo, addTo, type DayOf, mergeTotals, noTotals, type Totals } from '../model/totals.ts'
import { addUsage } from '../model/usage.ts'
import type { Log } from '../normalize.ts'
import type { Progress } from './progress.ts'

interface Found {
  readonly session: Session
  readonly totals: Totals
  readonly history: HistorySummary | undefined
}

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
    const one = log.unknown ? undefined : await totalsOfLog(log, measures, progress, issues)
    if (one && one.session.kind === 'conversation') found.push(one)
    progress.done(log)
  }
  return { ...addUp(found), issues }
}

async function totalsOfLog(
  log: Log,
  { dayOf, prices }: Measures,
  progress: Progress,
  issues: Issue[],
): Promise<Found | undefined> {
  const totals = noTotals()
  let session: Session | undefined
  let history: HistorySummary | undefined
  for await (const batch of log.agent.scan(log.source)) {
    for (const one of batch) {
      if (one.kind === 'session') session = one.session
      if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
      if (one.kind === 'history') history = one.summary
      if (one.kind === 'cursor') progress.at(log, one.cursor.offset ?? 0)
      if (one.kind === 'counts') {
        totals.lines += one.counts.lines
        totals.messages += one.counts.messages
        for (const [name, calls] of Object.entries(one.counts.tools))
          totals.tools[name] = (totals.tools[name] ?? 0) + calls
      }
      if (one.kind === 'estimate') {
        totals.estimate = addEstimates(totals.estimate, one.estimate)
        totals.estimated_sessions = 1
      }
      if (one.kind !== 'usage') continue
      totals.usage = addUsage(totals.usage, one.usage)
      addTo(totals.by_model, one.model ?? 'unknown', one.usage)
      addTo(totals.by_day, dayOf(one.at), one.usage)
      const spent = spentOn(one.usage, one.model, one.at, prices)
      totals.cost.all = addSpent(totals.cost.all, spent)
      addCostTo(totals.cost.by_model, one.model ?? 'unknown', spent)
      addCostTo(totals.cost.by_day, dayOf(one.at), spent)
    }
  }
  return session && { session, totals, history }
}

/** Every file counts as a session, but what copies of one session hold counts once: the longest stands for all. */
function addUp(found: readonly Found[]): Pick<Sum, 'totals' | 'histories'> {
  const sum = noTotals()
  const ids = settleClaims(
    found.map(({ session: { id, started_at, first_record } }) => ({ id, at: started_at, first: first_record })),
  )
  const longest = new Map<string, Found>()
  found.forEach((one, at) => {
    sum.sessions++
    sum.lines += one.totals.lines
    const id = ids[at] ?? one.session.id
    if ((longest.get(id)?.totals.lines ?? -1) < one.totals.lines) longest.set(id, one)
  })
  for (const [id, { session, totals }] of longest) {
    mergeTotals(sum, totals)
    addTo(sum.by_session, id, totals.usage)
    addTo(sum.by_project, session.cwd ?? 'unknown', totals.usage)
    addCostTo(sum.cost.by_session, id, totals.cost.all)
    addCostTo(sum.cost.by_project, session.cwd ?? 'unknown', totals.cost.all)
  }
  return { totals: sum, histories: [...longest.values()].flatMap(({ history }) => history ?? []) }
}

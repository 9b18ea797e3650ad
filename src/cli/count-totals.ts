/** Runs the first pass over logs and adds up the results. Many logs are counted by two threads. */
import { availableParallelism } from 'node:os'
import type { Source } from '../agents/agent.ts'
import type { HistorySummary } from '../amazon-q.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { assignSessionIds } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { NO_COST } from '../model/prices.ts'
import { addCostTo, addUsageTo, emptyTotals, mergeTotals, type Totals } from '../model/totals.ts'
import { NO_USAGE } from '../model/usage.ts'
import type { UsageRecord } from '../model/usage-groups.ts'
import type { Log } from '../normalize.ts'
import { LogCounter, type LogCounts, type SessionCounts, type TotalsOptions } from './count-log.ts'
import type { LogProgress } from './progress.ts'

export interface LogTotals {
  readonly totals: Totals
  /** Only for conversations that are stored as entries. */
  readonly histories: readonly HistorySummary[]
  /** Tokens for grouping. */
  readonly records: readonly UsageRecord[]
  readonly issues: readonly Issue[]
}

export async function countTotals(
  logs: readonly Log[],
  options: TotalsOptions,
  progress: LogProgress,
): Promise<LogTotals> {
  const known = logs.filter(({ unknown }) => !unknown)
  for (const { source, unknown } of logs) if (unknown) progress.done(source)
  const counts = await countLogs(known, options, progress)
  const issues = counts.flatMap((one) => one.issues)
  return { ...addUpSessions(counts.flatMap(({ sessions }) => sessions)), issues }
}

/** In the order of the logs. */
async function countLogs(
  logs: readonly Log[],
  options: TotalsOptions,
  progress: LogProgress,
): Promise<readonly LogCounts[]> {
  const counter = new LogCounter(options)
  const counts: LogCounts[] = []
  const turns = new SharedArrayBuffer(4)
  const second = mayUseThread(logs) ? startThread(logs, turns, options, counts, progress) : undefined
  const count = async (at: number, { agent, source }: Log): Promise<void> => {
    counts[at] = await counter.count(agent, source, (offset) => progress.at(offset))
    progress.done(source)
  }
  for (let at = takeTurn(turns); at < logs.length; at = takeTurn(turns)) await count(at, logs[at] as Log)
  await second
  // What a thread that failed left over.
  for (const [at, log] of logs.entries()) if (!counts[at]) await count(at, log)
  return counts
}

/** The number of the next log, which no other thread gets. */
export const takeTurn = (turns: SharedArrayBuffer): number => Atomics.add(new Int32Array(turns), 0, 1)

/** With less, starting a thread takes longer than it saves. */
const MIN_BYTES_FOR_THREAD = 200_000_000

function mayUseThread(logs: readonly Log[]): boolean {
  if (!THREAD_URL || logs.length < 2 || availableParallelism() < 2) return false
  let bytes = 0
  for (const { source } of logs) {
    bytes += source.size ?? statOf(source.path)?.size ?? 0
    if (bytes >= MIN_BYTES_FOR_THREAD) return true
  }
  return false
}

/** Undefined when run from the sources: threads cannot load TypeScript with every supported Node. */
const THREAD_URL = import.meta.url.endsWith('.js') ? new URL('./count-thread.js', import.meta.url) : undefined

export interface ThreadTask {
  readonly sources: readonly Source[]
  /** See `takeTurn`. */
  readonly turns: SharedArrayBuffer
  readonly options: TotalsOptions
}

/** A log's number, and what was counted in it. */
export type CountedLog = readonly [at: number, counts: LogCounts]

/** Resolves when the thread has ended, also where it failed. */
async function startThread(
  logs: readonly Log[],
  turns: SharedArrayBuffer,
  options: TotalsOptions,
  counts: LogCounts[],
  progress: LogProgress,
): Promise<void> {
  const { Worker: Thread } = await import('node:worker_threads')
  const sources = logs.map(({ source }) => source)
  const thread = new Thread(THREAD_URL as URL, { workerData: { sources, turns, options } satisfies ThreadTask })
  thread.on('message', ([at, found]: CountedLog) => {
    counts[at] = found
    progress.done(sources[at] as Source)
  })
  await new Promise<void>((resolve) => {
    thread.on('error', () => resolve())
    thread.on('exit', () => resolve())
  })
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

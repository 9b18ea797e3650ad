/** The first pass over one source: sums up to the last cursor, and sums up to the end. */

import type { Agent, Counts, Cursor, ScanItem, Source } from '../agents/agent.ts'
import type {
  ModelEstimate,
  ModelUsage,
  RecordedTimes,
  ScannedPart,
  ScannedSource,
  SourceCounts,
  SourceLocation,
} from '../index/records.ts'
import { NO_QUARTER, QUARTER_MS } from '../index/row-encoding.ts'
import type { SourceFailure } from '../lib/failure.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import type { Instant } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { TimeRange } from '../model/recorded-time.ts'
import type { Session } from '../model/session.ts'
import { addEstimates } from '../model/token-estimate.ts'
import { addUsage } from '../model/usage.ts'

export interface ScanTask extends SourceLocation {
  readonly root?: string
  readonly version: number
  readonly fingerprint: string | undefined
  readonly size?: number
  /** Where the last scan stopped, with its sums. */
  readonly from?: { readonly cursor: unknown; readonly sure: SourceCounts }
}

export async function scanSource(agent: Agent, source: Source, task: ScanTask): Promise<ScannedSource> {
  if (agent.hasManySessions) return scanParts(agent, source, task)
  const sums = new ScanAccumulator(task.from?.sure)
  let fromStart = task.from === undefined
  let isFirst = true
  for await (const batch of agent.scan(source, task.from?.cursor as Cursor | undefined)) {
    if (isFirst && batch.some((one) => one.kind === 'issue' && one.issue.code === 'changed_while_read')) {
      fromStart = true
      sums.restart()
    } else for (const one of batch) sums.add(one)
    isFirst = false
  }
  const { from: _, ...where } = task
  const found = sums.result()
  return { ...where, ...(await measureSource(agent, source, task, found)), fromStart, ...found }
}

/** Always reads from the start: a cursor does not say to which session the next record belongs. */
async function scanParts(agent: Agent, source: Source, task: ScanTask): Promise<ScannedSource> {
  const outsideParts = new ScanAccumulator()
  const parts = new Map<string, ScanAccumulator>()
  let part = outsideParts
  for await (const batch of agent.scan(source))
    for (const one of batch) {
      if (one.kind === 'session') {
        part = parts.get(one.session.id) ?? new ScanAccumulator()
        parts.set(one.session.id, part)
      }
      if (one.kind === 'issue') outsideParts.add(one)
      else if (one.kind !== 'cursor') part.add(one)
    }
  const { from: _, ...where } = task
  const rest = outsideParts.result()
  const found = [...parts.values()].flatMap((sums): ScannedPart[] => {
    const { session, ...sumsOfPart } = sums.result()
    return session ? [{ ...sumsOfPart, session }] : []
  })
  return { ...where, ...(await measureSource(agent, source, task, rest)), fromStart: true, ...rest, parts: found }
}

interface ScanIssues {
  readonly issues: readonly Issue[]
  readonly provisionalIssues: readonly Issue[]
}

/**
 * Sets no fingerprint if the file may have changed during the read: it may be moved away and restored in the meantime.
 */
async function measureSource(agent: Agent, source: Source, task: ScanTask, { issues, provisionalIssues }: ScanIssues) {
  const { path, bytes, key } = source
  const size = task.size ?? bytes?.length ?? statOf(path)?.size ?? 0
  const isRead = ![...issues, ...provisionalIssues].some(({ code }) => code === 'unreadable')
  const isSame = bytes !== undefined || key !== undefined || (await agent.probe(source)) === task.fingerprint
  return { size, fingerprint: isRead && isSame ? task.fingerprint : undefined }
}

class ScanAccumulator {
  #session: Session | undefined
  #history: unknown
  #cursor: Cursor | undefined
  #sure: SourceCounts
  #counts: SourceCounts
  #usage = new Map<string, ModelUsage>()
  #provisional = new Map<string, ModelUsage>()
  readonly #estimates = new Map<string, ModelEstimate>()
  /** After the cursor. */
  readonly #provisionalEstimates = new Map<string, ModelEstimate>()
  readonly #times = new TimeRange()
  readonly #titles: { native_id: string; title: string }[] = []
  readonly #issues: Issue[] = []
  /** Issues after the cursor. A line that is still being written looks damaged until it is complete. */
  readonly #provisionalIssues: Issue[] = []

  constructor(sure: SourceCounts = ZERO_COUNTS) {
    this.#sure = sure
    this.#counts = sure
  }

  restart(): void {
    this.#sure = ZERO_COUNTS
    this.#counts = ZERO_COUNTS
  }

  add(one: ScanItem): void {
    switch (one.kind) {
      case 'session':
        this.#session = one.session
        return
      case 'history':
        this.#history = one.summary
        return
      case 'title':
        this.#titles.push({ native_id: one.native_id, title: one.title })
        return
      case 'issue':
        if (one.issue.code !== 'not_a_session') this.#provisionalIssues.push(one.issue)
        return
      case 'counts':
        this.#counts = addCounts(this.#counts, one.counts)
        return
      case 'times':
        this.#times.add(one.first)
        this.#times.add(one.last)
        return
      case 'usage':
        return this.#use(one)
      case 'estimate':
        return addModelEstimate(this.#provisionalEstimates, {
          quarter: quarterOf(one.at),
          model: one.model ?? 'unknown',
          estimate: one.estimate,
        })
      case 'cursor':
        this.#cursor = one.cursor
        this.#sure = this.#counts
        for (const used of this.#provisional.values()) addModelUsage(this.#usage, used)
        this.#provisional.clear()
        for (const estimated of this.#provisionalEstimates.values()) addModelEstimate(this.#estimates, estimated)
        this.#provisionalEstimates.clear()
        this.#issues.push(...this.#provisionalIssues.splice(0))
    }
  }

  #use({ at, model, usage }: Extract<ScanItem, { kind: 'usage' }>): void {
    addModelUsage(this.#provisional, { quarter: quarterOf(at), model: model ?? 'unknown', usage })
  }

  result() {
    return {
      ...(this.#session && { session: this.#session }),
      ...(this.#history !== undefined && { history: this.#history }),
      ...(this.#cursor && { cursor: this.#cursor }),
      sure: this.#sure,
      counts: this.#counts,
      usage: [...this.#usage.values()],
      provisionalUsage: [...this.#provisional.values()],
      estimates: [...this.#estimates.values()],
      provisionalEstimates: [...this.#provisionalEstimates.values()],
      times: { first: this.#times.first, last: this.#times.last },
      titles: this.#titles,
      issues: this.#issues,
      provisionalIssues: this.#provisionalIssues,
    }
  }
}

function addModelUsage(sums: Map<string, ModelUsage>, { quarter, model, usage }: ModelUsage): void {
  const key = `${quarter} ${model}`
  const before = sums.get(key)
  sums.set(key, { quarter, model, usage: before ? addUsage(before.usage, usage) : usage })
}

function addModelEstimate(sums: Map<string, ModelEstimate>, { quarter, model, estimate }: ModelEstimate): void {
  const key = `${quarter} ${model}`
  const before = sums.get(key)
  sums.set(key, { quarter, model, estimate: before ? addEstimates(before.estimate, estimate) : estimate })
}

const quarterOf = (at: Instant | null): number => (at === null ? NO_QUARTER : Math.floor(Date.parse(at) / QUARTER_MS))

function addCounts(sum: SourceCounts, more: Counts): SourceCounts {
  const tools = new Map(Object.entries(sum.tools))
  for (const [name, calls] of Object.entries(more.tools)) tools.set(name, (tools.get(name) ?? 0) + calls)
  return {
    lines: sum.lines + more.lines,
    messages: sum.messages + more.messages,
    tools: Object.fromEntries(tools),
  }
}

type SourcePath = Pick<ScanTask, 'path' | 'key'>

export const issueForSource = ({ path, key }: SourcePath, { code, reason }: SourceFailure): Issue => ({
  code,
  reason,
  path,
  ...(key !== undefined && { key }),
})

const NO_TIMES: RecordedTimes = { first: null, last: null }

export const ZERO_COUNTS: SourceCounts = { lines: 0, messages: 0, tools: {} }

/** No fingerprint, so that every sync tries again. */
export function failedScan(
  { agent, path, key, kept, root, version, size = 0 }: FailedTask,
  failure: SourceFailure,
): ScannedSource {
  return {
    agent,
    path,
    ...(key !== undefined && { key }),
    kept,
    ...(root !== undefined && { root }),
    version,
    fingerprint: undefined,
    size,
    times: NO_TIMES,
    fromStart: true,
    sure: ZERO_COUNTS,
    counts: ZERO_COUNTS,
    usage: [],
    provisionalUsage: [],
    estimates: [],
    provisionalEstimates: [],
    titles: [],
    issues: [],
    provisionalIssues: [issueForSource({ path, ...(key !== undefined && { key }) }, failure)],
  }
}

type FailedTask = Omit<ScanTask, 'from' | 'fingerprint'>

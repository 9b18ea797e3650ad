/** The first pass over one source, as the index wants it: sums up to the last cursor, and sums to the end. */
import type { Agent, Counts, Cursor, Scan, Source } from '../../agents/agent.ts'
import type { Counted, Estimated, Part, Scanned, Used, Where } from '../../archive/record.ts'
import { statOf } from '../../lib/files/look.ts'
import type { Issue } from '../../model/issue.ts'
import type { Session } from '../../model/session.ts'
import { addEstimates } from '../../model/tokens/estimate.ts'
import { addUsage } from '../../model/usage.ts'

export interface ScanTask extends Where {
  readonly root?: string
  readonly version: number
  readonly fingerprint: string | undefined
  readonly size?: number
  /** Where the last scan stopped, and its sums there. */
  readonly from?: { readonly cursor: unknown; readonly sure: Counted }
}

const QUARTER = 900_000

export async function scanSource(agent: Agent, source: Source, task: ScanTask): Promise<Scanned> {
  if (agent.many) return scanParts(agent, source, task)
  const sums = new Sums(task.from?.sure)
  let anew = task.from === undefined
  let isFirst = true
  for await (const batch of agent.scan(source, task.from?.cursor as Cursor | undefined)) {
    if (isFirst && batch.some((one) => one.kind === 'issue' && one.issue.code === 'changed_while_read')) {
      anew = true
      sums.restart()
    } else for (const one of batch) sums.add(one)
    isFirst = false
  }
  const { from: _, ...where } = task
  const found = sums.result()
  return { ...where, ...(await measure(agent, source, task, found)), anew, ...found }
}

/** Always from its start: no cursor tells to which session the next record belongs. */
async function scanParts(agent: Agent, source: Source, task: ScanTask): Promise<Scanned> {
  const outside = new Sums()
  const parts = new Map<string, Sums>()
  let part = outside
  for await (const batch of agent.scan(source))
    for (const one of batch) {
      if (one.kind === 'session') {
        part = parts.get(one.session.id) ?? new Sums()
        parts.set(one.session.id, part)
      }
      if (one.kind === 'issue') outside.add(one)
      else if (one.kind !== 'cursor') part.add(one)
    }
  const { from: _, ...where } = task
  const rest = outside.result()
  const found = [...parts.values()].flatMap((sums): Part[] => {
    const { session, ...told } = sums.result()
    return session ? [{ ...told, session }] : []
  })
  return { ...where, ...(await measure(agent, source, task, rest)), anew: true, ...rest, parts: found }
}

interface Issues {
  readonly issues: readonly Issue[]
  readonly provisionalIssues: readonly Issue[]
}

/** Without a fingerprint where it is not sure that this was read: a file may be moved away meanwhile, and come back as it was. */
async function measure(agent: Agent, source: Source, task: ScanTask, { issues, provisionalIssues }: Issues) {
  const { path, bytes, key, first_seen } = source
  const file = bytes ? undefined : statOf(path)
  const modified = file?.mtimeMs ?? (first_seen === undefined ? 0 : Date.parse(first_seen))
  const size = task.size ?? bytes?.length ?? file?.size ?? 0
  const isRead = ![...issues, ...provisionalIssues].some(({ code }) => code === 'unreadable')
  const isSame = bytes !== undefined || key !== undefined || (await agent.probe(source)) === task.fingerprint
  return { size, modified, fingerprint: isRead && isSame ? task.fingerprint : undefined }
}

class Sums {
  #session: Session | undefined
  #history: unknown
  #cursor: Cursor | undefined
  #sure: Counted
  #counts: Counted
  #usage = new Map<string, Used>()
  #provisional = new Map<string, Used>()
  readonly #estimates = new Map<string, Estimated>()
  /** After the cursor. */
  readonly #guessed = new Map<string, Estimated>()
  readonly #titles: { native_id: string; title: string }[] = []
  readonly #issues: Issue[] = []
  /** After the cursor: a line that is just being written is no damage when it is whole. */
  readonly #doubts: Issue[] = []

  constructor(sure: Counted = NOTHING) {
    this.#sure = sure
    this.#counts = sure
  }

  restart(): void {
    this.#sure = NOTHING
    this.#counts = NOTHING
  }

  add(one: Scan): void {
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
        if (one.issue.code !== 'not_a_session') this.#doubts.push(one.issue)
        return
      case 'counts':
        this.#counts = sumOf(this.#counts, one.counts)
        return
      case 'usage':
        return this.#use(one)
      case 'estimate':
        return addEstimated(this.#guessed, {
          quarter: quarterOf(one.at),
          model: one.model ?? 'unknown',
          estimate: one.estimate,
        })
      case 'cursor':
        this.#cursor = one.cursor
        this.#sure = this.#counts
        for (const used of this.#provisional.values()) addTo(this.#usage, used)
        this.#provisional.clear()
        for (const estimated of this.#guessed.values()) addEstimated(this.#estimates, estimated)
        this.#guessed.clear()
        this.#issues.push(...this.#doubts.splice(0))
    }
  }

  #use({ at, model, usage }: Extract<Scan, { kind: 'usage' }>): void {
    addTo(this.#provisional, { quarter: quarterOf(at), model: model ?? 'unknown', usage })
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
      provisionalEstimates: [...this.#guessed.values()],
      titles: this.#titles,
      issues: this.#issues,
      provisionalIssues: this.#doubts,
    }
  }
}

const NOTHING: Counted = { lines: 0, messages: 0, tools: {} }

function addTo(sums: Map<string, Used>, { quarter, model, usage }: Used): void {
  const key = `${quarter} ${model}`
  const before = sums.get(key)
  sums.set(key, { quarter, model, usage: before ? addUsage(before.usage, usage) : usage })
}

function addEstimated(sums: Map<string, Estimated>, { quarter, model, estimate }: Estimated): void {
  const key = `${quarter} ${model}`
  const before = sums.get(key)
  sums.set(key, { quarter, model, estimate: before ? addEstimates(before.estimate, estimate) : estimate })
}

const quarterOf = (at: string): number => Math.floor(Date.parse(at) / QUARTER)

function sumOf(sum: Counted, more: Counts): Counted {
  const tools = new Map(Object.entries(sum.tools))
  for (const [name, calls] of Object.entries(more.tools)) tools.set(name, (tools.get(name) ?? 0) + calls)
  return {
    lines: sum.lines + more.lines,
    messages: sum.messages + more.messages,
    tools: Object.fromEntries(tools),
  }
}

/** What only all messages of a session tell about each of them: collected in one pass, before anything is shown or written. */
import type { NormalizedMessage } from './normalized.ts'
import { extensionOf } from './replay/extension.ts'

export interface SessionFacts {
  /** The log was trimmed to its events: they are all that is left of prompts and answers. */
  readonly eventsOnly: boolean
  /** Ids of messages that a later one repeats and stands for. */
  readonly duplicates: ReadonlySet<string>
  /** Id of the last message after which the model continued with something other than the messages before it. */
  readonly compaction: string | undefined
  /** Summaries that a source has at its end although they belong before everything else. */
  readonly head: readonly NormalizedMessage[]
  isRolledBack(message: MessageLine): boolean
}

export const NO_SESSION_FACTS: SessionFacts = {
  eventsOnly: false,
  duplicates: new Set(),
  compaction: undefined,
  head: [],
  isRolledBack: () => false,
}

/** For an event that is known to repeat nothing, when its session was not read. */
export const UNREPEATED_EVENT: SessionFacts = { ...NO_SESSION_FACTS, eventsOnly: true }

/** The id of a message says its line; one without a line in its id needs `raw`. */
export interface MessageLine {
  readonly id: string
  readonly raw?: { readonly line_index: number }
}

/** Takes the messages of one session one by one. */
export class SessionFactsCollector {
  #hasMessages = false
  #compaction: string | undefined
  readonly #duplicates = new Set<string>()
  readonly #rolledBack: LineRange[] = []
  readonly #head: NormalizedMessage[] = []

  add(message: NormalizedMessage): void {
    const { id, role, metadata } = message
    if (role === 'user' || role === 'assistant') this.#hasMessages = true
    if (!metadata) return
    if (isHeadSummary(message)) this.#head.push(message)
    if (metadata.duplicates) for (const duplicate of metadata.duplicates) this.#duplicates.add(duplicate)
    if (metadata.rolled_back) this.#rollBack(metadata.rolled_back, lineOf(message))
    if (metadata.kind === 'compaction' && isReadableReplacement(extensionOf(message)?.replacement))
      this.#compaction = id
  }

  /** To continue without changing what this one has collected. */
  copy(): SessionFactsCollector {
    const copy = new SessionFactsCollector()
    copy.#hasMessages = this.#hasMessages
    copy.#compaction = this.#compaction
    for (const id of this.#duplicates) copy.#duplicates.add(id)
    copy.#rolledBack.push(...this.#rolledBack)
    copy.#head.push(...this.#head)
    return copy
  }

  facts(): SessionFacts {
    const ranges = mergeRanges(this.#rolledBack)
    return {
      eventsOnly: !this.#hasMessages,
      duplicates: this.#duplicates,
      compaction: this.#compaction,
      head: this.#head,
      isRolledBack: ranges.length === 0 ? () => false : (message) => includesLine(ranges, lineOf(message)),
    }
  }

  /** Whole turns up to this line: also the reasoning in them, which no record names. */
  #rollBack(ids: readonly string[], end: number): void {
    const start = ids.reduce((first, id) => Math.min(first, lineOfId(id) ?? first), end)
    if (start < end) this.#rolledBack.push({ start, end })
  }
}

export async function collectSessionFacts(messages: AsyncIterable<NormalizedMessage>): Promise<SessionFacts> {
  const collector = new SessionFactsCollector()
  for await (const message of messages) collector.add(message)
  return collector.facts()
}

/** A summary that its source has at the end, numbered before all messages. */
export const isHeadSummary = ({ role, metadata, raw }: NormalizedMessage): boolean =>
  role === 'system' && raw.line_index === 0 && metadata?.kind === 'summary'

/** A summary that only its maker can read is of no use to another program: then the messages before it stay. */
const isReadableReplacement = (replacement: readonly NormalizedMessage[] | undefined): boolean =>
  replacement?.some(({ role }) => role !== 'meta') === true &&
  !replacement.some(({ metadata }) => metadata?.kind === 'compaction')

/** From the first line to the one after the last. */
interface LineRange {
  readonly start: number
  readonly end: number
}

/** Messages point to each other by id, so lines are compared as ids have them: a copy in another file has other lines. */
const lineOf = ({ id, raw }: MessageLine): number => lineOfId(id) ?? raw?.line_index ?? -1

function lineOfId(id: string): number | undefined {
  const line = /#(\d+)(?:\.\d+)?(?:~\d+)?$/.exec(id)?.[1]
  return line === undefined ? undefined : Number(line)
}

/** In order, and apart from each other. */
function mergeRanges(ranges: readonly LineRange[]): readonly LineRange[] {
  const disjoint: { readonly start: number; end: number }[] = []
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = disjoint.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else disjoint.push({ start, end })
  }
  return disjoint
}

function includesLine(ranges: readonly LineRange[], line: number): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.end ?? 0) > line) high = middle
    else low = middle + 1
  }
  return (ranges[low]?.start ?? Number.POSITIVE_INFINITY) <= line
}

/**
 * Facts about messages that depend on the complete session. Collected in one pass before messages are shown or written.
 */
import type { NormalizedMessage } from './normalized.ts'
import { extensionOf } from './replay/extension.ts'

export interface SessionFacts {
  /** The log was reduced to its events, which are all that remains of prompts and answers. */
  readonly eventsOnly: boolean
  /** Ids of messages that a later message repeats and represents. */
  readonly duplicates: ReadonlySet<string>
  /** Id of the last message after which the model continued with a replaced history. */
  readonly compaction: string | undefined
  /** Summaries stored at the end of a source that belong before all other messages. */
  readonly head: readonly NormalizedMessage[]
  isRolledBack(message: MessageLine): boolean
  /** Dropped by a compaction: the model has only the summary of it. */
  isDropped(message: MessageLine): boolean
}

export const NO_SESSION_FACTS: SessionFacts = {
  eventsOnly: false,
  duplicates: new Set(),
  compaction: undefined,
  head: [],
  isRolledBack: () => false,
  isDropped: () => false,
}

/** For an event that is known not to repeat a message, if its session was not read. */
export const UNREPEATED_EVENT: SessionFacts = { ...NO_SESSION_FACTS, eventsOnly: true }

/** The id of a message says its line; one without a line in its id needs `raw`. */
export interface MessageLine {
  readonly id: string
  readonly raw?: { readonly line_index: number }
}

/** Collects the facts from the messages of one session. */
export class SessionFactsCollector {
  #hasMessages = false
  #compaction: string | undefined
  /** A compaction whose summary is a message of its own, until that one is met. */
  #boundary: string | undefined
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
    if (metadata.kind === 'compaction') {
      const replacement = extensionOf(message)?.replacement
      if (isReadableReplacement(replacement)) this.#compaction = id
      this.#boundary = replacement === undefined && message.segments.length === 0 ? id : undefined
    } else if (metadata.kind === 'summary' && this.#boundary !== undefined) {
      this.#compaction = this.#boundary
      this.#boundary = undefined
    }
  }

  /** To continue without changing what this one has collected. */
  copy(): SessionFactsCollector {
    const copy = new SessionFactsCollector()
    copy.#hasMessages = this.#hasMessages
    copy.#compaction = this.#compaction
    copy.#boundary = this.#boundary
    for (const id of this.#duplicates) copy.#duplicates.add(id)
    copy.#rolledBack.push(...this.#rolledBack)
    copy.#head.push(...this.#head)
    return copy
  }

  facts(): SessionFacts {
    const ranges = mergeRanges(this.#rolledBack)
    const boundary = this.#compaction === undefined ? undefined : lineOfId(this.#compaction)
    return {
      eventsOnly: !this.#hasMessages,
      duplicates: this.#duplicates,
      compaction: this.#compaction,
      head: this.#head,
      isDropped: boundary === undefined ? () => false : (message) => lineOf(message) < boundary,
      isRolledBack: ranges.length === 0 ? () => false : (message) => includesLine(ranges, lineOf(message)),
    }
  }

  /** Rolls back complete turns up to this line, including reasoning, which no record lists. */
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

/** A summary stored at the end of its source, numbered before all messages. */
export const isHeadSummary = ({ role, metadata, raw }: NormalizedMessage): boolean =>
  role === 'system' && raw.line_index === 0 && metadata?.kind === 'summary'

/** Another program cannot use an encrypted summary. The messages before it are then kept. */
const isReadableReplacement = (replacement: readonly NormalizedMessage[] | undefined): boolean =>
  replacement?.some(({ role }) => role !== 'meta') === true &&
  !replacement.some(({ metadata }) => metadata?.kind === 'compaction')

/** `end` is exclusive. */
interface LineRange {
  readonly start: number
  readonly end: number
}

/** Messages refer to each other by id, so lines are taken from ids: a copy in another file has other physical lines. */
const lineOf = ({ id, raw }: MessageLine): number => lineOfId(id) ?? raw?.line_index ?? -1

function lineOfId(id: string): number | undefined {
  const line = /#(\d+)(?:\.\d+)?(?:~\d+)?$/.exec(id)?.[1]
  return line === undefined ? undefined : Number(line)
}

/** Sorted, without overlap. */
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

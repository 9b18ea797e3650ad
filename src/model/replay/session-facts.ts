/** What only the whole of a conversation tells about its single messages: gathered in a first reading. */
import type { NormalizedMessage } from '../normalized.ts'
import { extensionOf } from './extension.ts'

export interface SessionFacts {
  /** The log was trimmed to its events: they are all that was said. */
  readonly eventsOnly: boolean
  /** Lines that were taken back, from the first to the one after the last; in order and apart from each other. */
  readonly rolledBack: readonly LineRange[]
  /** The id of the last message after which the model went on with something else than what stands before. */
  readonly compaction: string | undefined
  /** Summaries that a source tells at its end but that stand before everything else. */
  readonly head: readonly NormalizedMessage[]
}

export interface LineRange {
  readonly start: number
  readonly end: number
}

/** Everything that was said counts. */
export const NO_SESSION_FACTS: SessionFacts = { eventsOnly: false, rolledBack: [], compaction: undefined, head: [] }

/** Takes the messages of one session one by one. */
export class SessionFactsCollector {
  #hasMessages = false
  #compaction: string | undefined
  readonly #rolledBack: LineRange[] = []
  readonly #head: NormalizedMessage[] = []
  /** Lines of the messages that a rollback may name. */
  readonly #lines = new Map<string, number>()

  take(message: NormalizedMessage): void {
    const { id, role, metadata, raw } = message
    if (role !== 'meta') {
      this.#hasMessages ||= role !== 'system'
      this.#trackLine(id, raw.line_index)
      if (isHeadSummary(message)) this.#head.push(message)
    }
    if (!metadata) return
    const rolledBackIds = metadata['rolled_back']
    if (Array.isArray(rolledBackIds)) this.#rollBack(rolledBackIds as string[], raw.line_index)
    if (metadata['kind'] === 'compaction' && isReadableReplacement(extensionOf(message)?.replacement))
      this.#compaction = id
  }

  facts(): SessionFacts {
    return {
      eventsOnly: !this.#hasMessages,
      rolledBack: mergeRanges(this.#rolledBack),
      compaction: this.#compaction,
      head: this.#head,
    }
  }

  #trackLine(id: string, line: number): void {
    this.#lines.set(id, line)
    if (this.#lines.size <= MAX_TRACKED_LINES) return
    for (const oldest of this.#lines.keys()) {
      this.#lines.delete(oldest)
      return
    }
  }

  /** Whole turns up to here: also what was thought in them, which nobody names. */
  #rollBack(ids: readonly string[], end: number): void {
    const start = ids.reduce((first, id) => Math.min(first, this.#lines.get(id) ?? first), end)
    if (start < end) this.#rolledBack.push({ start, end })
  }
}

function mergeRanges(ranges: readonly LineRange[]): readonly LineRange[] {
  const disjoint: { readonly start: number; end: number }[] = []
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = disjoint.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else disjoint.push({ start, end })
  }
  return disjoint
}

/** A summary that only its maker can read is no use to anybody else: then what stands before it stays. */
const isReadableReplacement = (replacement: readonly NormalizedMessage[] | undefined): boolean =>
  replacement?.some(({ role }) => role !== 'meta') === true &&
  !replacement.some(({ metadata }) => metadata?.['kind'] === 'compaction')

/** More than the messages of the turns that can be taken back at once. */
const MAX_TRACKED_LINES = 50_000

/** Told at the end, numbered before all. */
export const isHeadSummary = ({ role, metadata, raw }: NormalizedMessage): boolean =>
  role === 'system' && raw.line_index === 0 && metadata?.['kind'] === 'summary'

export function isRolledBack({ rolledBack }: SessionFacts, { raw }: NormalizedMessage): boolean {
  const line = raw.line_index
  let low = 0
  let high = rolledBack.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rolledBack[middle]?.end ?? 0) > line) high = middle
    else low = middle + 1
  }
  return (rolledBack[low]?.start ?? Number.POSITIVE_INFINITY) <= line
}

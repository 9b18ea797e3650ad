/** What stands for what was taken out: the same for the same, another one for another, and a count of both. */
import type { RedactionSpan } from './secrets.ts'

export interface Redaction {
  /** The rule that found a secret (`github`, `aws`, `privatekey` …), `email`, `user`, `home`, or `encrypted`. */
  readonly kind: string
  /** How many different ones. */
  readonly distinct: number
  /** How many places. */
  readonly count: number
}

export class Placeholders {
  readonly #names = new Map<string, string>()
  readonly #kinds = new Map<string, { distinct: number; count: number }>()

  /** Counts a place, and tells what stands there now. */
  take(text: string, kind: string): string {
    const tally = this.#tally(kind)
    tally.count++
    const key = `${kind}\n${text}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    tally.distinct++
    const name = placeholderName(kind, tally.distinct)
    this.#names.set(key, name)
    return name
  }

  /** For what is left out altogether. */
  count(kind: string): void {
    const tally = this.#tally(kind)
    tally.count++
    tally.distinct++
  }

  list(): readonly Redaction[] {
    return [...this.#kinds].map(([kind, { distinct, count }]) => ({ kind, distinct, count }))
  }

  #tally(kind: string): { distinct: number; count: number } {
    const known = this.#kinds.get(kind)
    if (known) return known
    const tally = { distinct: 0, count: 0 }
    this.#kinds.set(kind, tally)
    return tally
  }
}

/** Paths stay paths; nothing of it needs an escape in JSON, in an address or in a shell. */
function placeholderName(kind: string, number: number): string {
  if (kind === 'user') return `user-${number}`
  return kind === 'home' ? '/home/user-0' : `[redacted-${kind}-${number}]`
}

export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** One edit for each place. What overlaps a secret is not looked at twice: a password before an `@` is no address. */
export function createEdits(
  text: string,
  secrets: readonly RedactionSpan[],
  people: readonly RedactionSpan[],
  placeholders: Placeholders,
): readonly TextEdit[] {
  const others = people.filter((one) => !secrets.some((span) => span.start < one.end && one.start < span.end))
  return mergeOverlapping([...secrets, ...others]).map(({ start, end, kind }) => ({
    start,
    end,
    text: placeholders.take(text.slice(start, end), kind),
  }))
}

/** Of those that overlap, the one that comes first in the list says what it is. */
function mergeOverlapping(spans: readonly RedactionSpan[]): readonly RedactionSpan[] {
  if (spans.length < 2) return spans
  const ranks = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank)
  const merged: typeof ranks = []
  for (const span of ranks) {
    const last = merged.at(-1)
    if (!last || span.start >= last.end) merged.push(span)
    else {
      const first = span.rank < last.rank ? span : last
      merged[merged.length - 1] = { ...first, start: last.start, end: Math.max(last.end, span.end) }
    }
  }
  return merged
}

export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return at === 0 ? text : result + text.slice(at)
}

/** Where a place in the text is after the edits; inside one of them, its beginning or its end. */
export function shiftPosition(edits: readonly TextEdit[], position: number, side: 'start' | 'end'): number {
  let shift = 0
  for (const { start, end, text } of edits) {
    if (position <= start) break
    if (position < end) return start + shift + (side === 'end' ? text.length : 0)
    shift += text.length - (end - start)
  }
  return position + shift
}

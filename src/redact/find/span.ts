/** A part of a text, and operations on lists of them. */

/** Part of a text to redact. `start` and `end` count UTF-16 units. */
export interface RedactionSpan {
  readonly start: number
  readonly end: number
  /** Kind of secret: `github`, `aws`, `email` … */
  readonly kind: string
}

/** Kinds that say how a secret was found, not what it is, and what cannot be examined. */
const RANKS: { readonly [kind: string]: number } = { setting: 1, entropy: 2, binary: 3 }

/** Joins overlapping spans. The first of several in the list determines the kind, a specific one before others. */
export function mergeSpans(spans: readonly RedactionSpan[]): readonly RedactionSpan[] {
  if (spans.length < 2) return spans
  const ranks = spans
    .map((span, at) => ({ ...span, rank: (RANKS[span.kind] ?? 0) * spans.length + at }))
    .sort((a, b) => a.start - b.start || a.rank - b.rank)
  const merged: typeof ranks = []
  for (const span of ranks) {
    const last = merged.at(-1)
    if (!last || span.start >= last.end) merged.push(span)
    else {
      const first = span.rank < last.rank ? span : last
      merged[merged.length - 1] = { ...first, start: last.start, end: Math.max(last.end, span.end) }
    }
  }
  return merged.map(({ start, end, kind }) => ({ start, end, kind }))
}

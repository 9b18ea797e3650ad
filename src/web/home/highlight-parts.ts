/** A text cut into what was looked for and what lies between. */

export interface HighlightPart {
  readonly text: string
  readonly isHit: boolean
}

/** @param highlights in order, apart from each other */
export function splitHighlights(
  text: string,
  highlights: readonly { readonly start: number; readonly end: number }[],
): readonly HighlightPart[] {
  const pieces: HighlightPart[] = []
  let from = 0
  for (const { start, end } of highlights) {
    pieces.push({ text: text.slice(from, start), isHit: false }, { text: text.slice(start, end), isHit: true })
    from = end
  }
  pieces.push({ text: text.slice(from), isHit: false })
  return pieces.filter((piece) => piece.text !== '')
}

/** Replacements in a text. */

export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** @param edits in order, without overlaps */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return at === 0 ? text : result + text.slice(at)
}

/** Position after the edits. A position inside an edit moves to its start or end. */
export function shiftPosition(edits: readonly TextEdit[], position: number, side: 'start' | 'end'): number {
  let shift = 0
  for (const { start, end, text } of edits) {
    if (position <= start) break
    if (position < end) return start + shift + (side === 'end' ? text.length : 0)
    shift += text.length - (end - start)
  }
  return position + shift
}

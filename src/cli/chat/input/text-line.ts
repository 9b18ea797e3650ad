/** A text and a place in it, and what keys do to it. Letters are what a reader takes for one. */

import { splitGraphemes } from '../../view/text-width.ts'

export interface TextLine {
  readonly text: string
  /** UTF-16 units before the cursor. */
  readonly at: number
}

export const EMPTY_LINE: TextLine = { text: '', at: 0 }

export const toTextLine = (text: string): TextLine => ({ text, at: text.length })

export const insertText = ({ text, at }: TextLine, inserted: string): TextLine => ({
  text: text.slice(0, at) + inserted + text.slice(at),
  at: at + inserted.length,
})

/** Takes out what lies between the cursor and another place. */
export function cutToPosition(
  { text, at }: TextLine,
  other: number,
): { readonly line: TextLine; readonly taken: string } {
  const from = Math.min(at, other)
  const to = Math.max(at, other)
  return { line: { text: text.slice(0, from) + text.slice(to), at: from }, taken: text.slice(from, to) }
}

export const moveCursor = ({ text }: TextLine, at: number): TextLine => ({
  text,
  at: Math.max(0, Math.min(text.length, at)),
})

export function previousPosition({ text, at }: TextLine): number {
  if (at === 0) return 0
  const start = startOfLine({ text, at })
  if (start === at) return at - 1
  return at - (splitGraphemes(text.slice(start, at)).at(-1)?.length ?? 1)
}

export function nextPosition({ text, at }: TextLine): number {
  if (at >= text.length) return text.length
  if (text[at] === '\n') return at + 1
  return at + (splitGraphemes(text.slice(at, endOfLine({ text, at })))[0]?.length ?? 1)
}

/** A negative place would count as the first one. */
export const startOfLine = ({ text, at }: TextLine): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1)

export function endOfLine({ text, at }: TextLine): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

const IN_WORD = /[\p{L}\p{N}_]/u
const BETWEEN_WORDS = /[^\p{L}\p{N}_]/u
const NEXT_WORD = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u

export const previousWordStart = ({ text, at }: TextLine): number =>
  skipBack(text, skipBack(text, at, BETWEEN_WORDS), IN_WORD)

/** Over all letters of a kind: a pattern that ends at the cursor would be tried from each place of the text. */
function skipBack(text: string, at: number, kind: RegExp): number {
  let position = at
  while (position > 0) {
    const isPair = position > 1 && (text.codePointAt(position - 2) ?? 0) > 0xffff
    const previous = position - (isPair ? 2 : 1)
    if (!kind.test(text.slice(previous, position))) break
    position = previous
  }
  return position
}

export const nextWordEnd = ({ text, at }: TextLine): number => at + (NEXT_WORD.exec(text.slice(at))?.[0].length ?? 0)

/** Up to white space, as Control-W takes it. */
export const previousChunkStart = ({ text, at }: TextLine): number => skipBack(text, skipBack(text, at, /\s/), /\S/)

/** The same place one line higher or lower; nothing where there is none. */
export function positionAbove(line: TextLine): number | undefined {
  const start = startOfLine(line)
  if (start === 0) return undefined
  const above = startOfLine({ text: line.text, at: start - 1 })
  return Math.min(start - 1, above + line.at - start)
}

export function positionBelow(line: TextLine): number | undefined {
  const end = endOfLine(line)
  if (end === line.text.length) return undefined
  return Math.min(endOfLine({ text: line.text, at: end + 1 }), end + 1 + line.at - startOfLine(line))
}

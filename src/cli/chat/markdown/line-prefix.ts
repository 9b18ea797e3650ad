/** What stands at the beginning of a line of Markdown and decides how the line looks. */

import { paint } from '../../view/paint.ts'
import { textWidth } from '../../view/text-width.ts'
import type { TextStyle } from '../output/text-style.ts'

export interface LinePrefix {
  /** How much of the text it takes. */
  readonly length: number
  /** What is written in its place. */
  readonly head: string
  /** The column behind it. */
  readonly column: number
  /** Before further lines of the same block. */
  readonly indent: string
  readonly styles: readonly TextStyle[]
}

const MAX_INDENT = 24

const INCOMPLETE_PREFIX =
  /^\s*(?:>\s?)*\s*(?:#{1,6}\s*|(?:[-*+]|\d{1,9}[.)])(?:\s+(?:\[[ xX]?\]?\s*)?)?|\d{1,9}|[-*_\s]+|[`~]+[^`\n]*)?$/
/** Rules are not longer. */
const MAX_PREFIX_LENGTH = 80

/** Whether more has to come before it can be told what the line is. Of a longer text only a fence can go on. */
export const isIncompletePrefix = (text: string): boolean =>
  text.length < MAX_PREFIX_LENGTH ? INCOMPLETE_PREFIX.test(text) : /^\s*(?:`{3,}|~{3,})[^`\n]*$/.test(text)

export function parseLinePrefix(text: string): LinePrefix {
  const quote = /^\s*((?:>[ \t]?)+)/.exec(text)
  const bar = quote ? '│ '.repeat(quote[1]?.match(/>/g)?.length ?? 1) : ''
  const inner = parseInnerPrefix(text.slice(quote?.[0].length ?? 0))
  const shownBar = bar === '' ? '' : paint.dim(bar)
  return {
    length: (quote?.[0].length ?? 0) + inner.length,
    head: shownBar + inner.head,
    column: textWidth(bar) + inner.column,
    indent: shownBar + inner.indent,
    styles: quote && inner.styles.length === 0 ? ['italic'] : inner.styles,
  }
}

function parseInnerPrefix(text: string): LinePrefix {
  const heading = /^\s{0,3}#{1,6}[ \t]+/.exec(text)
  if (heading) return { length: heading[0].length, head: '', column: 0, indent: '', styles: ['heading'] }
  const item = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]\][ \t]+)?(?=\S|$)/.exec(text)
  const spaces = indentText((item ?? /^([ \t]*)/.exec(text))?.[1] ?? '')
  if (!item) {
    const blank = /^[ \t]*/.exec(text)?.[0].length ?? 0
    return { length: blank, head: spaces, column: spaces.length, indent: spaces, styles: [] }
  }
  const bullet = `${/\d/.test(item[2] ?? '') ? item[2] : '•'} ${checkboxText(item[3])}`
  const column = spaces.length + textWidth(bullet)
  return { length: item[0].length, head: spaces + bullet, column, indent: ' '.repeat(column), styles: [] }
}

function checkboxText(task: string | undefined): string {
  if (task === undefined) return ''
  return /x/i.test(task) ? '☑ ' : '☐ '
}

const indentText = (blank: string): string => ' '.repeat(Math.min(MAX_INDENT, blank.replaceAll('\t', '    ').length))

/** What stands at the beginning of a line of Markdown and decides how the line looks. */

import { paint } from '../../view/paint.ts'
import type { Look } from '../output/style.ts'
import { widthOf } from '../width.ts'

export interface Block {
  /** How much of the text it takes. */
  readonly length: number
  /** What is written in its place. */
  readonly head: string
  /** The column behind it. */
  readonly column: number
  /** Before further lines of the same block. */
  readonly indent: string
  readonly looks: readonly Look[]
}

const DEEPEST = 24

const BEGUN =
  /^\s*(?:>\s?)*\s*(?:#{1,6}\s*|(?:[-*+]|\d{1,9}[.)])(?:\s+(?:\[[ xX]?\]?\s*)?)?|\d{1,9}|[-*_\s]+|[`~]+[^`\n]*)?$/
/** Rules are not longer. */
const LONGEST_HEAD = 80

/** Whether more has to come before it can be told what the line is. Of a longer text only a fence can go on. */
export const isUndecided = (text: string): boolean =>
  text.length < LONGEST_HEAD ? BEGUN.test(text) : /^\s*(?:`{3,}|~{3,})[^`\n]*$/.test(text)

export function headOf(text: string): Block {
  const quote = /^\s*((?:>[ \t]?)+)/.exec(text)
  const bar = quote ? '│ '.repeat(quote[1]?.match(/>/g)?.length ?? 1) : ''
  const inner = inside(text.slice(quote?.[0].length ?? 0))
  const shownBar = bar === '' ? '' : paint.dim(bar)
  return {
    length: (quote?.[0].length ?? 0) + inner.length,
    head: shownBar + inner.head,
    column: widthOf(bar) + inner.column,
    indent: shownBar + inner.indent,
    looks: quote && inner.looks.length === 0 ? ['italic'] : inner.looks,
  }
}

function inside(text: string): Block {
  const heading = /^\s{0,3}#{1,6}[ \t]+/.exec(text)
  if (heading) return { length: heading[0].length, head: '', column: 0, indent: '', looks: ['heading'] }
  const item = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]\][ \t]+)?(?=\S|$)/.exec(text)
  const spaces = depthOf((item ?? /^([ \t]*)/.exec(text))?.[1] ?? '')
  if (!item) {
    const blank = /^[ \t]*/.exec(text)?.[0].length ?? 0
    return { length: blank, head: spaces, column: spaces.length, indent: spaces, looks: [] }
  }
  const bullet = `${/\d/.test(item[2] ?? '') ? item[2] : '•'} ${boxOf(item[3])}`
  const column = spaces.length + widthOf(bullet)
  return { length: item[0].length, head: spaces + bullet, column, indent: ' '.repeat(column), looks: [] }
}

function boxOf(task: string | undefined): string {
  if (task === undefined) return ''
  return /x/i.test(task) ? '☑ ' : '☐ '
}

const depthOf = (blank: string): string => ' '.repeat(Math.min(DEEPEST, blank.replaceAll('\t', '    ').length))

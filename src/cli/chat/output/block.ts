/** Text of a model in a terminal, with a mark before each row that our own lines never have, and never wider than the screen. */
import { type Excerpt, excerptOf, type Gap, type TextSpan } from '../../../model/told/excerpt.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { count, plural } from '../../view/table.ts'
import { lettersOf, widthOf } from '../width.ts'

/** Before a line of the text, and before what goes on with it on the next row. */
const LINE = '  │ '
const CONTINUED = '  ┆ '
const DANGEROUS = '! │ '
const DANGEROUS_CONTINUED = '! ┆ '
const LEFT_OUT = '  ⋮ '
const TAB = '    '

export interface BlockOptions {
  readonly columns: number
  readonly rows: number
  /** Makes hostile characters visible. */
  readonly spell: (text: string) => string
  readonly danger?: readonly TextSpan[]
  /** Long lines are not cut. */
  readonly isWhole?: boolean
  /** How the rows of a line are coloured. */
  readonly shade?: (line: string) => (row: string) => string
}

export interface Block {
  readonly text: string
  /** Something that could matter is not shown. */
  readonly isCut: boolean
}

export const NO_BLOCK: Block = { text: '', isCut: false }

export function blockText(text: string, options: BlockOptions): Block {
  const { shade = () => (row) => row, spell } = options
  const columns = Math.max(16, options.columns - LINE.length - 1)
  const excerpt = excerptOf(text, {
    ...options,
    spell: (part) => spell(part).replaceAll('\t', TAB),
    columns,
    widthOf,
  })
  return { text: rowsOf(excerpt, columns, shade), isCut: excerpt.isCut }
}

function rowsOf({ rows }: Excerpt, columns: number, shade: (line: string) => (row: string) => string): string {
  let out = ''
  let colour = shade('')
  for (const row of rows) {
    if (row.kind === 'gap') {
      out += paint.dim(`${LEFT_OUT}${gapWords(row.what, row.count)}\n`)
      continue
    }
    const { text, isContinued, isDangerous } = row
    if (!isContinued) colour = isDangerous ? paint.red : shade(text)
    for (const [at, part] of wrapped(text, columns).entries()) {
      const goesOn = isContinued || at > 0
      const mark = isDangerous
        ? paint.red(goesOn ? DANGEROUS_CONTINUED : DANGEROUS)
        : paint.dim(goesOn ? CONTINUED : LINE)
      out += `${mark}${colour(part)}\n`
    }
  }
  return out
}

function gapWords(what: Gap, n: number): string {
  switch (what) {
    case 'lines':
      return say(`${plural(n, 'line')} not shown`, `${count(n)} 行を省略`)
    case 'characters':
      return say(`${plural(n, 'character')} not shown`, `${count(n)} 文字を省略`)
    case 'blank':
      return say(plural(n, 'blank line'), `空行 ${count(n)} 行`)
    case 'spaces':
      return say(plural(n, 'space'), `空白 ${count(n)} 個`)
  }
}

/** Broken at the edge, wherever that is: a command is not moved apart. */
function wrapped(text: string, columns: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const letter of lettersOf(text)) {
    const width = widthOf(letter)
    if (used + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += letter
    used += width
  }
  return [...rows, row]
}

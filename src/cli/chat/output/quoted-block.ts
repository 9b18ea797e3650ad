/** Text of a model in a terminal, with a mark before each row that our own lines never have, and never wider than the screen. */
import { createExcerpt, type Excerpt, type ExcerptGap, type TextSpan } from '../../../model/excerpt.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { formatCount, plural } from '../../view/table.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'

/** Before a line of the text, and before what goes on with it on the next row. */
const LINE_START = '  │ '
const CONTINUED_START = '  ┆ '
const DANGEROUS_START = '! │ '
const DANGEROUS_CONTINUED_START = '! ┆ '
const OMITTED_START = '  ⋮ '
const TAB_SPACES = '    '

export interface QuotedBlockOptions {
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

export interface QuotedBlock {
  readonly text: string
  /** Something that could matter is not shown. */
  readonly isCut: boolean
}

export const EMPTY_BLOCK: QuotedBlock = { text: '', isCut: false }

export function renderQuotedBlock(text: string, options: QuotedBlockOptions): QuotedBlock {
  const { shade = () => (row) => row, spell } = options
  const columns = Math.max(16, options.columns - LINE_START.length - 1)
  const excerpt = createExcerpt(text, {
    ...options,
    spell: (part) => spell(part).replaceAll('\t', TAB_SPACES),
    columns,
    widthOf: textWidth,
  })
  return { text: renderRows(excerpt, columns, shade), isCut: excerpt.isCut }
}

function renderRows({ rows }: Excerpt, columns: number, shade: (line: string) => (row: string) => string): string {
  let out = ''
  let colour = shade('')
  for (const row of rows) {
    if (row.kind === 'gap') {
      out += paint.dim(`${OMITTED_START}${formatGap(row.what, row.count)}\n`)
      continue
    }
    const { text, isContinued, isDangerous } = row
    if (!isContinued) colour = isDangerous ? paint.red : shade(text)
    for (const [at, part] of wrapText(text, columns).entries()) {
      const isContinuation = isContinued || at > 0
      const rowStart = isDangerous
        ? paint.red(isContinuation ? DANGEROUS_CONTINUED_START : DANGEROUS_START)
        : paint.dim(isContinuation ? CONTINUED_START : LINE_START)
      out += `${rowStart}${colour(part)}\n`
    }
  }
  return out
}

function formatGap(what: ExcerptGap, n: number): string {
  switch (what) {
    case 'lines':
      return say(`${plural(n, 'line')} not shown`, `${formatCount(n)} 行を省略`)
    case 'characters':
      return say(`${plural(n, 'character')} not shown`, `${formatCount(n)} 文字を省略`)
    case 'blank':
      return say(plural(n, 'blank line'), `空行 ${formatCount(n)} 行`)
    case 'spaces':
      return say(plural(n, 'space'), `空白 ${formatCount(n)} 個`)
  }
}

/** Broken at the edge, wherever that is: a command is not moved apart. */
function wrapText(text: string, columns: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const character of splitGraphemes(text)) {
    const width = textWidth(character)
    if (used + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += character
    used += width
  }
  return [...rows, row]
}

/** Text of a model as a bounded block of rows: beginning, end and whatever is dangerous stay, all else is counted. */

/** Offsets in UTF-16 units. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

export type ExcerptRow =
  | {
      readonly kind: 'text'
      /** Without hostile characters. */
      readonly text: string
      /** Goes on with the line of the row before. */
      readonly isContinued: boolean
      readonly isDangerous: boolean
    }
  | { readonly kind: 'gap'; readonly what: Gap; readonly count: number }

/** Blank lines and spaces hide nothing when they are left out. */
export type Gap = 'lines' | 'characters' | 'blank' | 'spaces'

export interface Excerpt {
  readonly rows: readonly ExcerptRow[]
  /** Something that could matter is not shown. */
  readonly isCut: boolean
}

export interface ExcerptOptions {
  /** Makes hostile characters visible. */
  readonly spell: (text: string) => string
  /** How many rows the block may have. */
  readonly rows: number
  /** How many columns a row has; longer lines take several. */
  readonly columns: number
  readonly widthOf?: (text: string) => number
  readonly danger?: readonly TextSpan[]
  /** Long lines are not cut. */
  readonly isWhole?: boolean
}

/** Rows of one line; more is cut in its middle. */
const MOST_ROWS_OF_LINE = 4
/** Fewer blank lines stand as they are. */
const MOST_BLANK_LINES = 2
const SPACES = /[ \t]{40,}/g
/** Around a dangerous stretch of a long line. */
const AROUND = 24
/** Dangerous stretches of one line. */
const MOST_OF_LINE = 6
/** Of the rows that are not taken by dangerous lines, so many are the first ones. */
const HEAD_SHARE = 0.6

interface Line {
  readonly rows: readonly ExcerptRow[]
  /** Lines of the text. */
  readonly count: number
  /** Rows on the screen. */
  readonly height: number
  readonly isDangerous: boolean
}

export function excerptOf(text: string, options: ExcerptOptions): Excerpt {
  const lines = linesOf(text, options)
  const kept = choose(lines, options.rows)
  const rows: ExcerptRow[] = []
  let left = 0
  const endGap = (): void => {
    if (left > 0) rows.push({ kind: 'gap', what: 'lines', count: left })
    left = 0
  }
  for (const [at, line] of lines.entries())
    if (kept.has(at)) {
      endGap()
      rows.push(...line.rows)
    } else left += line.count
  endGap()
  return { rows, isCut: rows.some((row) => row.kind === 'gap' && (row.what === 'lines' || row.what === 'characters')) }
}

function linesOf(text: string, options: ExcerptOptions): readonly Line[] {
  const lines: Line[] = []
  let blank = 0
  let start = 0
  const endBlank = (): void => {
    if (blank > MOST_BLANK_LINES)
      lines.push({ rows: [{ kind: 'gap', what: 'blank', count: blank }], count: blank, height: 1, isDangerous: false })
    else for (let at = 0; at < blank; at++) lines.push({ rows: [rowOf('')], count: 1, height: 1, isDangerous: false })
    blank = 0
  }
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (/^[ \t]*$/.test(line)) blank++
    else {
      endBlank()
      lines.push(lineOf(line, start, options))
    }
    start += line.length + 1
  }
  endBlank()
  return lines
}

const rowOf = (text: string, isContinued = false, isDangerous = false): ExcerptRow => ({
  kind: 'text',
  text,
  isContinued,
  isDangerous,
})

function lineOf(line: string, start: number, options: ExcerptOptions): Line {
  const { columns, spell, danger = [], widthOf = (text) => text.length } = options
  const inLine = danger
    .filter((span) => span.start < start + line.length && span.end > start)
    .map((span) => ({ start: Math.max(0, span.start - start), end: Math.min(line.length, span.end - start) }))
  const isDangerous = inLine.length > 0
  const rows: ExcerptRow[] = []
  const heightOf = (shown: string): number => Math.max(1, Math.ceil(widthOf(shown) / Math.max(1, columns - 1)))
  let at = 0
  let height = 0
  const gap = (what: Gap, count: number): void => {
    rows.push({ kind: 'gap', what, count })
    height++
  }
  for (const piece of piecesOf(line, inLine, options)) {
    if (piece.start > at) gap('characters', piece.start - at)
    at = piece.end
    let from = piece.start
    const put = (to: number): void => {
      const shown = spell(line.slice(from, to))
      if (shown === '') return
      rows.push(rowOf(shown, rows.length > 0, isDangerous))
      height += heightOf(shown)
    }
    for (const { 0: spaces, index } of line.slice(piece.start, piece.end).matchAll(SPACES)) {
      put(piece.start + index)
      gap('spaces', spaces.length)
      from = piece.start + index + spaces.length
    }
    put(piece.end)
  }
  if (at < line.length) gap('characters', line.length - at)
  return { rows, count: 1, height, isDangerous }
}

/** What is shown of a line: all of it, or its ends and what is dangerous. */
function piecesOf(line: string, danger: readonly TextSpan[], options: ExcerptOptions): readonly TextSpan[] {
  const { columns, spell, isWhole } = options
  const most = Math.max(20, columns) * MOST_ROWS_OF_LINE
  // Runs of spaces take one row, however long they are.
  const short = line.replace(SPACES, ' ')
  if (isWhole || (short.length <= most && spell(short).length <= most)) return [{ start: 0, end: line.length }]
  const part = Math.floor(most / 3)
  // Hostile characters take more room once they are spelled out.
  const isTooLong = (start: number, end: number): boolean => spell(line.slice(Math.max(0, start), end)).length > part
  const firstPart = (start: number, length: number): TextSpan =>
    length > 1 && isTooLong(start, start + length) ? firstPart(start, length >> 1) : { start, end: start + length }
  const lastPart = (end: number, length: number): TextSpan =>
    length > 1 && isTooLong(end - length, end) ? lastPart(end, length >> 1) : { start: end - length, end }
  const wanted = [
    firstPart(0, part),
    ...danger
      .slice(0, MOST_OF_LINE)
      .flatMap(({ start, end }) => [
        lastPart(start, AROUND),
        ...(isTooLong(start, end) ? [firstPart(start, part >> 1), lastPart(end, part >> 1)] : [{ start, end }]),
        firstPart(end, AROUND),
      ]),
    lastPart(line.length, part),
  ]
  const pieces: { start: number; end: number }[] = []
  for (const one of wanted.sort((a, b) => a.start - b.start)) {
    const start = whole(line, Math.max(0, Math.floor(one.start)))
    const end = whole(line, Math.min(line.length, Math.floor(one.end)))
    const last = pieces.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else if (end > start) pieces.push({ start, end })
  }
  return pieces
}

/** Never between the halves of a character. */
const whole = (line: string, at: number): number => (/[\udc00-\udfff]/.test(line.charAt(at)) && at > 0 ? at - 1 : at)

/** Dangerous lines first, then from both ends. */
function choose(lines: readonly Line[], most: number): ReadonlySet<number> {
  const kept = new Set<number>()
  const total = lines.reduce((sum, { height }) => sum + height, 0)
  if (total <= most) return new Set(lines.keys())
  let room = most
  const take = (at: number, budget: number): boolean => {
    const height = lines[at]?.height ?? 0
    if (kept.has(at)) return true
    if (height > budget) return false
    kept.add(at)
    room -= height
    return true
  }
  // At least one of them, however high it is.
  for (const [at, { isDangerous }] of lines.entries())
    if (isDangerous && !take(at, kept.size === 0 ? Number.POSITIVE_INFINITY : room)) break
  // Places where lines are left out take a row each.
  room -= Math.min(kept.size, room) + 1
  const forTail = Math.floor(Math.max(0, room) * (1 - HEAD_SHARE))
  for (let at = 0; at < lines.length && take(at, room - forTail); at++);
  for (let at = lines.length - 1; at >= 0 && take(at, room); at--);
  if (kept.size === 0) kept.add(0)
  return kept
}

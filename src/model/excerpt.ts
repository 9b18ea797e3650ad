/**
 * Shortens text of a model to a bounded block of rows. Keeps the beginning, the end and everything dangerous, and
 * counts the rest.
 */

/** Offsets in UTF-16 units. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

export type ExcerptRow =
  | {
      readonly kind: 'text'
      /** Hostile characters are spelled out. */
      readonly text: string
      /** Continues the line of the previous row. */
      readonly isContinued: boolean
      readonly isDangerous: boolean
    }
  | { readonly kind: 'gap'; readonly what: ExcerptGap; readonly count: number }

/** Omitted blank lines and spaces hide nothing. */
export type ExcerptGap = 'lines' | 'characters' | 'blank' | 'spaces'

export interface Excerpt {
  readonly rows: readonly ExcerptRow[]
  /** Something that may matter was omitted. */
  readonly isCut: boolean
}

export interface ExcerptOptions {
  /** Makes hostile characters visible. */
  readonly spell: (text: string) => string
  /** Maximum number of rows. */
  readonly rows: number
  /** Width of a row. Longer lines take several rows. */
  readonly columns: number
  readonly widthOf?: (text: string) => number
  readonly danger?: readonly TextSpan[]
  /** Shows long lines completely. */
  readonly isWhole?: boolean
}

/** Maximum number of rows per line. Longer lines are cut in the middle. */
const MAX_ROWS_PER_LINE = 4
/** More blank lines than this are collapsed. */
const MAX_BLANK_LINES = 2
const SPACE_RUN = /[ \t]{40,}/g
/** Characters shown around a dangerous part of a long line. */
const CONTEXT_LENGTH = 24
/** Maximum number of dangerous parts shown per line. */
const MAX_DANGERS_PER_LINE = 6
/** Share of the first lines in the rows that dangerous lines leave free. */
const HEAD_SHARE = 0.6

interface ExcerptLine {
  readonly rows: readonly ExcerptRow[]
  /** Lines of the text in this gap. */
  readonly count: number
  /** Height on the screen, in rows. */
  readonly height: number
  readonly isDangerous: boolean
}

export function createExcerpt(text: string, options: ExcerptOptions): Excerpt {
  const lines = toExcerptLines(text, options)
  const chosen = chooseLines(lines, options.rows)
  const rows: ExcerptRow[] = []
  let omitted = 0
  const endGap = (): void => {
    if (omitted > 0) rows.push({ kind: 'gap', what: 'lines', count: omitted })
    omitted = 0
  }
  for (const [at, line] of lines.entries())
    if (chosen.has(at)) {
      endGap()
      rows.push(...line.rows)
    } else omitted += line.count
  endGap()
  return { rows, isCut: rows.some((row) => row.kind === 'gap' && (row.what === 'lines' || row.what === 'characters')) }
}

function toExcerptLines(text: string, options: ExcerptOptions): readonly ExcerptLine[] {
  const lines: ExcerptLine[] = []
  let blank = 0
  let start = 0
  const endBlank = (): void => {
    if (blank > MAX_BLANK_LINES)
      lines.push({ rows: [{ kind: 'gap', what: 'blank', count: blank }], count: blank, height: 1, isDangerous: false })
    else
      for (let at = 0; at < blank; at++) lines.push({ rows: [toTextRow('')], count: 1, height: 1, isDangerous: false })
    blank = 0
  }
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (/^[ \t]*$/.test(line)) blank++
    else {
      endBlank()
      lines.push(toExcerptLine(line, start, options))
    }
    start += line.length + 1
  }
  endBlank()
  return lines
}

const toTextRow = (text: string, isContinued = false, isDangerous = false): ExcerptRow => ({
  kind: 'text',
  text,
  isContinued,
  isDangerous,
})

function toExcerptLine(line: string, start: number, options: ExcerptOptions): ExcerptLine {
  const { columns, spell, danger = [], widthOf = (text) => text.length } = options
  const inLine = danger
    .filter((span) => span.start < start + line.length && span.end > start)
    .map((span) => ({ start: Math.max(0, span.start - start), end: Math.min(line.length, span.end - start) }))
  const isDangerous = inLine.length > 0
  const rows: ExcerptRow[] = []
  const heightOf = (spelled: string): number => Math.max(1, Math.ceil(widthOf(spelled) / Math.max(1, columns - 1)))
  let at = 0
  let height = 0
  const gap = (what: ExcerptGap, count: number): void => {
    rows.push({ kind: 'gap', what, count })
    height++
  }
  for (const piece of visibleSpans(line, inLine, options)) {
    if (piece.start > at) gap('characters', piece.start - at)
    at = piece.end
    let from = piece.start
    const addRow = (to: number): void => {
      const spelled = spell(line.slice(from, to))
      if (spelled === '') return
      rows.push(toTextRow(spelled, rows.length > 0, isDangerous))
      height += heightOf(spelled)
    }
    for (const { 0: spaces, index } of line.slice(piece.start, piece.end).matchAll(SPACE_RUN)) {
      addRow(piece.start + index)
      gap('spaces', spaces.length)
      from = piece.start + index + spaces.length
    }
    addRow(piece.end)
  }
  if (at < line.length) gap('characters', line.length - at)
  return { rows, count: 1, height, isDangerous }
}

/** The visible parts of a line: all of it, or its ends and the dangerous parts. */
function visibleSpans(line: string, danger: readonly TextSpan[], options: ExcerptOptions): readonly TextSpan[] {
  const { columns, spell, isWhole } = options
  const limit = Math.max(20, columns) * MAX_ROWS_PER_LINE
  // A run of spaces takes one row, however long it is.
  const short = line.replace(SPACE_RUN, ' ')
  if (isWhole || (short.length <= limit && spell(short).length <= limit)) return [{ start: 0, end: line.length }]
  const part = Math.floor(limit / 3)
  // Hostile characters are longer when spelled out.
  const isTooLong = (start: number, end: number): boolean => spell(line.slice(Math.max(0, start), end)).length > part
  const firstPart = (start: number, length: number): TextSpan =>
    length > 1 && isTooLong(start, start + length) ? firstPart(start, length >> 1) : { start, end: start + length }
  const lastPart = (end: number, length: number): TextSpan =>
    length > 1 && isTooLong(end - length, end) ? lastPart(end, length >> 1) : { start: end - length, end }
  const wanted = [
    firstPart(0, part),
    ...danger
      .slice(0, MAX_DANGERS_PER_LINE)
      .flatMap(({ start, end }) => [
        lastPart(start, CONTEXT_LENGTH),
        ...(isTooLong(start, end) ? [firstPart(start, part >> 1), lastPart(end, part >> 1)] : [{ start, end }]),
        firstPart(end, CONTEXT_LENGTH),
      ]),
    lastPart(line.length, part),
  ]
  const pieces: { start: number; end: number }[] = []
  for (const one of wanted.sort((a, b) => a.start - b.start)) {
    const start = alignToCharacter(line, Math.max(0, Math.floor(one.start)))
    const end = alignToCharacter(line, Math.min(line.length, Math.floor(one.end)))
    const last = pieces.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else if (end > start) pieces.push({ start, end })
  }
  return pieces
}

/** Moves the position off the middle of a surrogate pair. */
const alignToCharacter = (line: string, at: number): number =>
  /[\udc00-\udfff]/.test(line.charAt(at)) && at > 0 ? at - 1 : at

/** Dangerous lines first, then alternating from both ends. */
function chooseLines(lines: readonly ExcerptLine[], limit: number): ReadonlySet<number> {
  const chosen = new Set<number>()
  const total = lines.reduce((sum, { height }) => sum + height, 0)
  if (total <= limit) return new Set(lines.keys())
  let remainingRows = limit
  const take = (at: number, budget: number): boolean => {
    const height = lines[at]?.height ?? 0
    if (chosen.has(at)) return true
    if (height > budget) return false
    chosen.add(at)
    remainingRows -= height
    return true
  }
  // Shows at least one dangerous line, whatever its height.
  for (const [at, { isDangerous }] of lines.entries())
    if (isDangerous && !take(at, chosen.size === 0 ? Number.POSITIVE_INFINITY : remainingRows)) break
  // Each gap takes a row.
  remainingRows -= Math.min(chosen.size, remainingRows) + 1
  const forTail = Math.floor(Math.max(0, remainingRows) * (1 - HEAD_SHARE))
  for (let at = 0; at < lines.length && take(at, remainingRows - forTail); at++);
  for (let at = lines.length - 1; at >= 0 && take(at, remainingRows); at--);
  if (chosen.size === 0) chosen.add(0)
  return chosen
}

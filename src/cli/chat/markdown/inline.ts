/** Inline Markdown and tables as styled text. */
import { paint } from '../../view/paint.ts'
import {
  COLUMN_GAP,
  columnWidths,
  type GridCell,
  renderGridRow,
  type StyledSpan,
  type TextStyle,
  wrapCell,
} from '../output/styled-text.ts'

interface InlineResult {
  readonly spans: readonly StyledSpan[]
  readonly rest: string
}

/**
 * Longest text between two markers. Bounds how long output waits for the closing marker, and keeps a line full of
 * markers from taking quadratic time.
 */
const MAX_SPAN_LENGTH = 400

/**
 * @param isComplete no more text follows
 * @param previous the character before the text
 */
export function parseInline(
  text: string,
  isComplete: boolean,
  styles: readonly TextStyle[] = [],
  previous = ' ',
): InlineResult {
  const spans: StyledSpan[] = []
  let plain = ''
  let at = 0
  const flush = (): void => {
    if (plain !== '') spans.push({ text: plain, styles })
    plain = ''
  }
  while (at < text.length) {
    const rest = text.slice(at, at + MAX_SPAN_LENGTH)
    const before = text[at - 1] ?? previous
    const match = MARKUP_START.test(rest) ? matchMarkup(rest, before, styles) : undefined
    const mayGrow = !isComplete && rest.length < MAX_SPAN_LENGTH
    if (mayGrow && (match ? match.length === rest.length : mayStartMarkup(rest, before))) break
    if (match) {
      flush()
      spans.push(...match.spans)
      at += match.length
      continue
    }
    const length = MARKUP_START.test(rest)
      ? (/^(?:\*+|_+|~+|`+|!?\[|\\[\s\S]?|<)/.exec(rest)?.[0].length ?? 1)
      : plainLength(rest)
    plain += rest.slice(0, length)
    at += length
  }
  flush()
  return { spans, rest: text.slice(at) }
}

const MARKUP_START = /^[*_~`![\\<]/

const plainLength = (text: string): number => /^[^*_~`![\\<]+/.exec(text)?.[0].length ?? 1

interface InlineMatch {
  readonly spans: readonly StyledSpan[]
  readonly length: number
}

const EMPHASIS: readonly { readonly form: RegExp; readonly looks: readonly TextStyle[]; readonly isWord?: true }[] = [
  { form: /^\*\*\*(?=\S)([^*]*?\S)\*\*\*/, looks: ['bold', 'italic'] },
  { form: /^\*\*(?=\S)((?:[^*]|\*(?!\*))*?\S)\*\*(?!\*)/, looks: ['bold'] },
  { form: /^__(?=\S)((?:[^_]|_(?!_))*?\S)__(?![\p{L}\p{N}_])/u, looks: ['bold'], isWord: true },
  { form: /^\*(?=[^\s*])((?:[^*]|\*\*[^*]+\*\*)*?[^\s*])\*(?!\*)/, looks: ['italic'] },
  { form: /^_(?=[^\s_])([^_]*?[^\s_])_(?![\p{L}\p{N}_])/u, looks: ['italic'], isWord: true },
  { form: /^~~(?=\S)([^~]*?\S)~~/, looks: ['struck'] },
]

function matchMarkup(text: string, before: string, styles: readonly TextStyle[]): InlineMatch | undefined {
  const code = /^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/.exec(text)
  if (code) return { spans: [{ text: trimCode(code[2] ?? ''), styles: [...styles, 'code'] }], length: code[0].length }
  const escaped = /^\\([!-/:-@[-`{-~])/.exec(text)
  if (escaped) return { spans: [{ text: escaped[1] ?? '', styles }], length: 2 }
  const link = /^(!?)\[([^[\]]*)\]\(<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+"[^"]*")?\)/.exec(text)
  if (link) return { spans: linkSpans(link[1] ?? '', link[2] ?? '', link[3] ?? '', styles), length: link[0].length }
  const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(text)
  if (auto) return { spans: [{ text: auto[1] ?? '', styles: [...styles, 'link'] }], length: auto[0].length }
  for (const { form, looks: more, isWord } of EMPHASIS) {
    if (isWord && /[\p{L}\p{N}_]/u.test(before)) continue
    const match = form.exec(text)
    if (match) return { spans: parseInline(match[1] ?? '', true, [...styles, ...more]).spans, length: match[0].length }
  }
  return undefined
}

const trimCode = (code: string): string => (/^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code)

/** Prints the address after the link text, because plain terminals and pipes have no links. */
function linkSpans(image: string, words: string, address: string, styles: readonly TextStyle[]): readonly StyledSpan[] {
  const shown = parseInline(image === '' ? words : `[image] ${words}`, true, [...styles, 'link']).spans
  return address === '' || address === words ? shown : [...shown, { text: ` (${address})`, styles: [...styles, 'dim'] }]
}

function mayStartMarkup(rest: string, before: string): boolean {
  if (!MARKUP_START.test(rest)) return false
  if (rest.length === 1 || /^(?:`|[*~]+(?!\s)|<[hm][^\s<>]*$)/.test(rest)) return true
  if (rest.startsWith('_')) return /^_+(?!\s)/.test(rest) && !/[\p{L}\p{N}_]/u.test(before)
  return /^!?(?:$|\[[^[\]]*(?:$|\](?:$|\((?:[^()]|\([^()]*(?:\)|$))*$)))/.test(rest)
}

export const isTableLine = (text: string): boolean => /^ {0,3}\|/.test(text)

const MIN_COLUMN_WIDTH = 6

export function renderMarkdownTable(lines: readonly string[], width: number): string {
  const [head = '', rule = '', ...body] = lines
  if (!rule.includes('-') || /[^\s:|-]/.test(rule)) return lines.map((line) => `${line}\n`).join('')
  const names = splitCells(head)
  const bodyCells = body.map((line) => splitCells(line).slice(0, names.length))
  if (names.length * (MIN_COLUMN_WIDTH + COLUMN_GAP) - COLUMN_GAP > width) return renderRecords(names, bodyCells, width)
  const titles = names.map((name): GridCell => parseInline(name, true, ['bold']).spans)
  const rows = bodyCells.map((row) => row.map((cell): GridCell => parseInline(cell, true).spans))
  const widths = columnWidths([titles, ...rows], width)
  const isRight = splitCells(rule).map((cell) => cell.endsWith(':') && !cell.startsWith(':'))
  const under = paint.dim(widths.map((one) => '─'.repeat(one)).join(' '.repeat(COLUMN_GAP)))
  const all = rows.map((row) => renderGridRow(row, widths, isRight)).join('')
  return `${renderGridRow(titles, widths, isRight)}${under}\n${all}`
}

function splitCells(line: string): readonly string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function renderRecords(names: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const field = (name: string, value: string): string =>
    `${wrapCell(parseInline(`${name}: ${value}`, true).spans, width - 2).join('\n  ')}\n`
  return rows.map((row) => names.map((name, at) => field(name, row[at] ?? '')).join('')).join('\n')
}

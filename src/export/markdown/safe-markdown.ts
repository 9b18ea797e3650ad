/** Makes Markdown safe to embed: it keeps its look and cannot affect the document around it. */
import { type Token, type TokensList, walkTokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN_LENGTH } from '../../lib/markup/markdown.ts'

/** The document itself uses heading levels up to this one. */
const MAX_OWN_HEADING_LEVEL = 3
const PROBE_HEADING = `${'#'.repeat(MAX_OWN_HEADING_LEVEL)} next`

/**
 * Returns the first of these that leaves the document intact and loads nothing: the text unchanged; the text with its
 * headings lowered, HTML shown as text and images turned into links; the same without any link; a fenced block.
 * Our parser decides. Other readers parse differently, so suspicious characters count too.
 * @param placed puts the text into its place, such as a quote, where code may stop being code
 */
export function toSafeMarkdown(text: string, placed: (text: string) => string = (same) => same): string {
  // Other readers also end lines at a carriage return.
  const trimmed = text
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
  const inFence = (): string => placed(fenceText(trimmed, 'text'))
  if (trimmed.length > MAX_MARKDOWN_LENGTH) return inFence()
  const asIs = placed(trimmed)
  if (!mayBeUnsafe(trimmed) && keepsStructure(asIs)) return asIs
  const repaired = placed(repairMarkdown(trimmed, escapeHarm))
  if (keepsStructure(repaired)) return repaired
  const plain = placed(repairMarkdown(trimmed, (words) => escapeLinks(escapeHarm(words))))
  return keepsStructure(plain) ? plain : inFence()
}

/** Escapes all Markdown in a text on one line. */
export const escapeMarkdownLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_~|#!&$]/g, (sign) => `\\${sign}`)
    .replaceAll(/[<>[\]]/g, entity)

/** Not a backslash, which readers would add to a preceding URL. */
const entity = (sign: string): string => ({ '<': '&lt;', '>': '&gt;' })[sign] ?? `&#${sign.charCodeAt(0)};`

function keepsStructure(text: string): boolean {
  try {
    const tokens = lexMarkdown(`${text}\n\n${PROBE_HEADING}\n`)
    const next = tokens.pop()
    return next?.type === 'heading' && next.raw.startsWith(PROBE_HEADING) && hasOnlySafeTokens(tokens)
  } catch {
    return false
  }
}

function hasOnlySafeTokens(tokens: TokensList): boolean {
  let isOk = true
  walkTokens(tokens, (token) => {
    if (token.type === 'html' || token.type === 'image') isOk = false
    if (token.type === 'heading' && token['depth'] <= MAX_OWN_HEADING_LEVEL) isOk = false
    if ((token.type === 'link' || token.type === 'def') && !isSafeLink(String(token['href']))) isOk = false
    // Other readers may start a fence or a heading on the second line.
    if (token.type === 'def' && token.raw.trim().includes('\n')) isOk = false
    if (isWords(token) && repairLines(token.raw.split('\n')) !== token.raw) isOk = false
    // Nested deeper than our parser goes; another parser may go deeper.
    if (token.type === 'text' && !token['tokens'] && mayBeUnsafe(token.raw)) isOk = false
  })
  return isOk
}

/** Blocks of text. A `text` token without tokens is inline. */
const isWords = (token: Token): boolean =>
  token.type === 'text' ? token['tokens'] !== undefined : ['paragraph', 'table', 'def'].includes(token.type)

/** Allows only schemes whose effect is known. `app.ts:12` has no scheme. */
function isSafeLink(href: string): boolean {
  // Readers decode entities and escapes, and browsers skip control characters, before they parse the scheme.
  const bare = href.replaceAll(/[\\<\s\p{Cc}\p{Cf}]/gu, '')
  if (/^[^/?]*&(?:#|\w+;)/.test(bare)) return false
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(bare)?.[1]?.toLowerCase()
  return scheme === undefined || scheme.includes('.') || SAFE_SCHEMES.has(scheme)
}

const SAFE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto'])

/**
 * The start of raw HTML, of an image, or of a link's or definition's address. Addresses in angle brackets stay links.
 * An image becomes an exclamation mark and a link, so that viewing loads nothing.
 */
const HARM =
  /(?<!\\)(\\*)(<(?=[a-z/!?])(?!(?:https?:\/\/|mailto:)[^\s<>]*>)|!(?=\[)|\](?=[(:][\s<>\p{Cc}\p{Cf}]*([^ \n<>]{0,200})))/giu

/** Does not rely on our parser, which may recognize less than others. */
const mayBeUnsafe = (text: string): boolean => escapeHarm(text) !== text

type TextChange = (words: string) => string

function repairMarkdown(text: string, change: TextChange): string {
  const { sections, open } = splitFences(text)
  const lines = sections.map((one) => (one.kind === 'code' ? one.lines.join('\n') : repairWords(one, change)))
  return [...lines, ...(open === undefined ? [] : [open])].join('\n')
}

const repairWords = ({ lines }: MarkdownSection, change: TextChange): string =>
  mapOutsideCode(repairLines(lines.map(lowerHeading)), change)

/** Escapes lines where another parser may end a paragraph. */
const repairLines = (lines: readonly string[]): string =>
  lines.map((line, at) => withoutFootnote(at > 0 ? withoutUnderline(line) : line)).join('\n')

const lowerHeading = (line: string): string =>
  line.replace(
    /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)(#{1,6})(?=[ \t]|$)/,
    (_, before: string, signs: string) => before + '#'.repeat(Math.min(6, signs.length + MAX_OWN_HEADING_LEVEL)),
  )

/** `===` or `---` would turn the line above into a heading. */
const withoutUnderline = (line: string): string => line.replace(/^((?:[ \t]|>)*)(=+|-+)(?=[ \t]*$)/, '$1\\$2')

/** Our parser has no footnotes; other parsers end a paragraph at one. */
const FOOTNOTE = /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)\[(?=\^)/

const withoutFootnote = (line: string): string => line.replace(FOOTNOTE, `$1${entity('[')}`)

const escapeHarm = (text: string): string =>
  text.replace(HARM, (all: string, slashes: string, sign: string, address?: string) =>
    address !== undefined && isSafeLink(address) ? all : unescaped(slashes) + entity(sign),
  )

/** Also escapes link definitions. */
const escapeLinks = (text: string): string =>
  text.replace(/(?<!\\)(\\*)\[/g, (_, slashes: string) => unescaped(slashes) + entity('['))

/** Removes an escaping backslash. */
const unescaped = (slashes: string): string => slashes.slice(slashes.length % 2)

/** A fenced block whose fence is longer than any in the text. */
export function fenceText(text: string, language = ''): string {
  const longest = text.match(/`{3,}/g)?.reduce((maximum, run) => Math.max(maximum, run.length), 2) ?? 2
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`
}

interface MarkdownSection {
  readonly kind: 'words' | 'code'
  /** For code, includes the fences. */
  readonly lines: readonly string[]
  readonly isClosed: boolean
}

interface MarkdownSections {
  readonly sections: readonly MarkdownSection[]
  /** The fence that is still open at the end. */
  readonly open: string | undefined
}

/** Fences may be inside quotes and lists. */
const FENCE_OPENING = /^(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})([^\n]*)$/
const FENCE_CLOSING = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/

/** A blank line ends a section of text, because code spans cannot cross it. */
export function splitFences(text: string): MarkdownSections {
  const sections: { kind: MarkdownSection['kind']; lines: string[]; isClosed: boolean }[] = []
  let fence: string | undefined
  const add = (kind: MarkdownSection['kind'], line: string, isNew: boolean, isClosed = false): void => {
    const last = sections.at(-1)
    if (isNew || last?.kind !== kind) sections.push({ kind, lines: [line], isClosed })
    else {
      last.lines.push(line)
      last.isClosed = isClosed
    }
  }
  let wasBlank = true
  for (const line of text.split('\n')) {
    const [, opening = '', info = ''] = (fence === undefined && FENCE_OPENING.exec(line)) || []
    if (fence === undefined && opening !== '' && !(opening.startsWith('`') && info.includes('`'))) {
      fence = opening
      add('code', line, true)
    } else if (fence !== undefined) {
      const [, closing = ''] = FENCE_CLOSING.exec(line) ?? []
      const isClosed = closing.startsWith(fence)
      add('code', line, false, isClosed)
      if (isClosed) fence = undefined
    } else {
      const isBlank = line.trim() === ''
      add('words', line, isBlank || wasBlank)
      wasBlank = isBlank
    }
  }
  return { sections, open: fence }
}

/**
 * Applies the function to everything outside code spans. A span across lines counts as text: a reader that ends the
 * paragraph between the lines would see other spans.
 */
function mapOutsideCode(words: string, change: (text: string) => string): string {
  const spans = findCodeSpans(words)
  if (spans.some(({ start, end }) => words.slice(start, end).includes('\n'))) return change(words)
  let result = ''
  let at = 0
  for (const { start, end } of spans) {
    result += change(words.slice(at, start)) + words.slice(start, end)
    at = end
  }
  return result + change(words.slice(at))
}

/** A run of backticks is closed by the next run of the same length. */
function findCodeSpans(words: string): readonly { readonly start: number; readonly end: number }[] {
  const runs = Array.from(words.matchAll(/(?<!\\)`+/g), ({ index, 0: run }) => ({
    start: index,
    end: index + run.length,
  }))
  const next = new Map<number, number>()
  const closing = runs.map(() => -1)
  for (let at = runs.length - 1; at >= 0; at--) {
    const length = (runs[at]?.end ?? 0) - (runs[at]?.start ?? 0)
    closing[at] = next.get(length) ?? -1
    next.set(length, at)
  }
  const spans: { start: number; end: number }[] = []
  for (let at = 0; at < runs.length; at++) {
    const [open, close] = [runs[at], runs[closing[at] ?? -1]]
    if (!open || !close) continue
    spans.push({ start: open.start, end: close.end })
    at = closing[at] ?? at
  }
  return spans
}

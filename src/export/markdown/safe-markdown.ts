/** Markdown that somebody said, made fit to stand in a document: it keeps its look and cannot touch what is around it. */
import { type Token, type TokensList, walkTokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN_LENGTH } from '../../lib/markup/markdown.ts'
import { fenceText, type MarkdownSection, mapOutsideCode, splitFences } from './fences.ts'

/** Headings of the document itself are above this. */
const MAX_OWN_HEADING_LEVEL = 3
const PROBE_HEADING = `${'#'.repeat(MAX_OWN_HEADING_LEVEL)} next`

/**
 * The text as it is, where it leaves the document whole and loads nothing; else with its headings lowered, its HTML shown as
 * text and its images as links; else without any link; else in a fence. Our parser decides; where readers differ from it,
 * signs in the text do.
 * @param placed puts the text where it will stand, such as in a quote: what is code alone may be none there
 */
export function toSafeMarkdown(text: string, placed: (text: string) => string = (same) => same): string {
  // Readers of Markdown end a line at a carriage return, too.
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

/** Of a text on one line, nothing is Markdown. */
export const escapeMarkdownLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_~|#!&$]/g, (sign) => `\\${sign}`)
    .replaceAll(/[<>[\]]/g, entity)

/** Not a backslash: readers take one for a part of the bare address before it. */
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
    // For other readers a fence or a heading may begin on the second line.
    if (token.type === 'def' && token.raw.trim().includes('\n')) isOk = false
    if (isWords(token) && repairLines(token.raw.split('\n')) !== token.raw) isOk = false
    // Nested deeper than our parser looks: another one may look there.
    if (token.type === 'text' && !token['tokens'] && mayBeUnsafe(token.raw)) isOk = false
  })
  return isOk
}

/** Blocks that hold words; `text` is also the words themselves, and then has no tokens. */
const isWords = (token: Token): boolean =>
  token.type === 'text' ? token['tokens'] !== undefined : ['paragraph', 'table', 'def'].includes(token.type)

/** What a program does when somebody follows it is only known of these; a name such as `app.ts:12` is no address. */
function isSafeLink(href: string): boolean {
  // Readers decode entities and escapes, and browsers skip control characters, before they look for a scheme.
  const bare = href.replaceAll(/[\\<\s\p{Cc}\p{Cf}]/gu, '')
  if (/^[^/?]*&(?:#|\w+;)/.test(bare)) return false
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(bare)?.[1]?.toLowerCase()
  return scheme === undefined || scheme.includes('.') || SAFE_SCHEMES.has(scheme)
}

const SAFE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto'])

/**
 * What begins raw HTML, an image, or the address of a link or of a definition. Addresses in angle brackets stay links. An
 * image becomes a link behind an exclamation mark: nothing is loaded by looking.
 */
const HARM =
  /(?<!\\)(\\*)(<(?=[a-z/!?])(?!(?:https?:\/\/|mailto:)[^\s<>]*>)|!(?=\[)|\](?=[(:][\s<>\p{Cc}\p{Cf}]*([^ \n<>]{0,200})))/giu

/** Also where our own parser sees none, or does not look so deep. */
const mayBeUnsafe = (text: string): boolean => escapeHarm(text) !== text

type TextChange = (words: string) => string

function repairMarkdown(text: string, change: TextChange): string {
  const { sections, open } = splitFences(text)
  const lines = sections.map((one) => (one.kind === 'code' ? one.lines.join('\n') : repairWords(one, change)))
  return [...lines, ...(open === undefined ? [] : [open])].join('\n')
}

const repairWords = ({ lines }: MarkdownSection, change: TextChange): string =>
  mapOutsideCode(repairLines(lines.map(lowerHeading)), change)

/** Without lines at which a reader may end a paragraph, whatever ours does. */
const repairLines = (lines: readonly string[]): string =>
  lines.map((line, at) => withoutFootnote(at > 0 ? withoutUnderline(line) : line)).join('\n')

const lowerHeading = (line: string): string =>
  line.replace(
    /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)(#{1,6})(?=[ \t]|$)/,
    (_, before: string, signs: string) => before + '#'.repeat(Math.min(6, signs.length + MAX_OWN_HEADING_LEVEL)),
  )

/** A line of `===` or `---` makes a heading of the line above it. */
const withoutUnderline = (line: string): string => line.replace(/^((?:[ \t]|>)*)(=+|-+)(?=[ \t]*$)/, '$1\\$2')

/** Our parser knows no footnotes. Others end a paragraph at one, and read blocks in it. */
const FOOTNOTE = /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)\[(?=\^)/

const withoutFootnote = (line: string): string => line.replace(FOOTNOTE, `$1${entity('[')}`)

const escapeHarm = (text: string): string =>
  text.replace(HARM, (all: string, slashes: string, sign: string, address?: string) =>
    address !== undefined && isSafeLink(address) ? all : unescaped(slashes) + entity(sign),
  )

/** Definitions of addresses, too. */
const escapeLinks = (text: string): string =>
  text.replace(/(?<!\\)(\\*)\[/g, (_, slashes: string) => unescaped(slashes) + entity('['))

/** Backslashes before a sign, without the one that escapes it. */
const unescaped = (slashes: string): string => slashes.slice(slashes.length % 2)

/** Markdown that somebody said, made fit to stand in a document: it keeps its look and cannot touch what is around it. */
import { type TokensList, walkTokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN } from '../../../lib/markdown.ts'
import { fenced, outsideSpans, type Stretch, stretchesOf } from './code.ts'

/** Headings of the document itself are above this. */
const DEEPEST_OWN_HEADING = 3
const NEXT_HEADING = `${'#'.repeat(DEEPEST_OWN_HEADING)} next`

/**
 * The text as it is, where it leaves the document whole and loads nothing; else with its headings lowered, its HTML shown as
 * text and its images as links; else without any link; else in a fence. A parser decides, not we.
 */
export function inert(text: string): string {
  // Readers of Markdown end a line at a carriage return, too.
  const trimmed = text
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
  if (trimmed.length > MAX_MARKDOWN) return fenced(trimmed, 'text')
  if (!mayDoHarm(trimmed) && leavesWhole(trimmed)) return trimmed
  const mended = mend(trimmed, escapeTags)
  if (leavesWhole(mended)) return mended
  const plain = mend(trimmed, (words) => escapeLinks(escapeTags(words)))
  return leavesWhole(plain) ? plain : fenced(trimmed, 'text')
}

/** Of a text on one line, nothing is Markdown. */
export const escapeLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_[\]<>~|#!&$]/g, (sign) => `\\${sign}`)

function leavesWhole(text: string): boolean {
  try {
    const tokens = lexMarkdown(`${text}\n\n${NEXT_HEADING}\n`)
    const next = tokens.pop()
    return next?.type === 'heading' && next.raw.startsWith(NEXT_HEADING) && isHarmless(tokens)
  } catch {
    return false
  }
}

function isHarmless(tokens: TokensList): boolean {
  let isOk = true
  walkTokens(tokens, (token) => {
    if (token.type === 'html' || token.type === 'image') isOk = false
    if (token.type === 'heading' && token['depth'] <= DEEPEST_OWN_HEADING) isOk = false
    if (token.type === 'link' && !isSafeLink(String(token['href']))) isOk = false
    // Nested deeper than our parser looks: another one may look there.
    if (token.type === 'text' && !token['tokens'] && mayDoHarm(token.raw.replaceAll(/\\[\s\S]/g, ''))) isOk = false
  })
  return isOk
}

/** What a program does when somebody follows it is only known of these; a name such as `app.ts:12` is no address. */
function isSafeLink(href: string): boolean {
  // Readers decode entities and escapes, and browsers skip control characters, before they look for a scheme.
  const bare = href.replaceAll(/[\\<\s\p{Cc}\p{Cf}]/gu, '')
  if (/^[^/?]*&(?:#|\w+;)/.test(bare)) return false
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(bare)?.[1]?.toLowerCase()
  return scheme === undefined || scheme.includes('.') || SAFE_SCHEMES.has(scheme)
}

const SAFE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto'])

/** Raw HTML, or an image. Also where our own parser would not look so deep. */
const mayDoHarm = (text: string): boolean => /<[a-z/!?](?!ttps?:\/\/|ailto:)|!\[/i.test(text)

type Change = (words: string) => string

function mend(text: string, change: Change): string {
  const { stretches, open } = stretchesOf(text)
  const lines = stretches.map((one) => (one.kind === 'code' ? one.lines.join('\n') : mendWords(one, change)))
  return [...lines, ...(open === undefined ? [] : [open])].join('\n')
}

function mendWords({ lines }: Stretch, change: Change): string {
  const lowered = lines.map((line, at) => (at > 0 ? withoutUnderline(line) : line)).map(lowerHeading)
  return outsideSpans(lowered.join('\n'), change)
}

const lowerHeading = (line: string): string =>
  line.replace(
    /^((?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*)(#{1,6})(?=[ \t]|$)/,
    (_, before: string, signs: string) => before + '#'.repeat(Math.min(6, signs.length + DEEPEST_OWN_HEADING)),
  )

/** A line of `===` or `---` makes a heading of the line above it. */
const withoutUnderline = (line: string): string => line.replace(/^((?:[ \t]|>)*)(=+|-+)(?=[ \t]*$)/, '$1\\$2')

/** Addresses in angle brackets stay links. An image becomes a link behind an exclamation mark: nothing is loaded by looking. */
const escapeTags = (text: string): string =>
  text.replace(
    /(?<!\\)(\\*)(?:<(?=[a-z/!?])(?!(?:https?:\/\/|mailto:)[^\s<>]*>)|!(?=\[))/gi,
    (all: string, slashes: string) => (slashes.length % 2 === 1 ? all : `${slashes}\\${all.slice(slashes.length)}`),
  )

/** Definitions of addresses, too. */
const escapeLinks = (text: string): string =>
  text.replace(/(?<!\\)(\\*)\[/g, (all: string, slashes: string) => (slashes.length % 2 === 1 ? all : `${slashes}\\[`))

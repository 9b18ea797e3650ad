/** The server's sanitizer. Turns Markdown, HTML or message text into HTML with only the tags that the policy allows. */

import type { MarkedToken, Token, Tokens } from 'marked'
import sanitize from 'sanitize-html'
import { ALLOWED_ATTRIBUTES, ALLOWED_SCHEMES, ALLOWED_TAGS, LINK_REL } from '../../model/html-policy.ts'
import { lexMarkdown, MAX_MARKDOWN_LENGTH } from './markdown.ts'

/** Limit of open elements. Deeper tags are dropped; their text stays. */
const MAX_DEPTH = 100

const ALLOWED_TAG_SET: ReadonlySet<string> = new Set(ALLOWED_TAGS)
const INLINE_TAGS: ReadonlySet<string> = new Set(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rb rp rt rtc ruby s samp
  small span strike strong sub sup svg time tt u var wbr`.split(/\s+/),
)
const BLOCK_TAGS: ReadonlySet<string> = new Set(
  `address applet area article aside audio base basefont bgsound blockquote body button canvas caption center col
  colgroup command datalist dd details dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset
  h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe image input isindex keygen legend li link listing main map marquee
  math menu menuitem meta meter nav nobr noembed noframes noscript object ol optgroup option output p param picture
  plaintext portal pre progress script search section select slot source style summary table tbody td template textarea
  tfoot th thead title tr track ul video xmp`.split(/\s+/),
)

/** The slashes are required, because `http:x` is relative on an http page. */
const SAFE_URL = new RegExp(`^(?:${ALLOWED_SCHEMES.join('|')}):(?://|(?<=^mailto:))`, 'i')
/** A target that is not a link but useful to read: a path, `file.ts:12`, an anchor. */
const READABLE_TARGET = /^(?:[^:&]*(?:$|\/|:\d)|file:|[a-z]:[\\/])/i

const SANITIZE_OPTIONS: sanitize.IOptions = {
  allowedTags: [...ALLOWED_TAGS],
  allowedAttributes: { a: [...ALLOWED_ATTRIBUTES.a] },
  allowedSchemes: [...ALLOWED_SCHEMES],
  allowProtocolRelative: false,
  transformTags: {
    // `span` is not allowed, so without a safe address the tag is dropped and its text stays.
    a: (_name, { href = '' }): sanitize.Tag => {
      const attribs = { href: percentEncode(href.trim()), rel: LINK_REL }
      return SAFE_URL.test(attribs.href) ? { tagName: 'a', attribs } : { tagName: 'span', attribs: {} }
    },
  },
}

/** Renders Markdown (GFM). Forbidden HTML and XML-like text stay readable as text. Never throws. */
export function renderMarkdown(text: string): string {
  const source = replaceNul(text)
  if (source.length > MAX_MARKDOWN_LENGTH) return toPreformatted(source)
  try {
    return sanitizeHtml(writeTokens(lexMarkdown(source)))
  } catch {
    return toPreformatted(source)
  }
}

/**
 * Reduces HTML to the policy. Other tags are dropped and their text stays; comments, scripts and styles are dropped
 * completely.
 */
export const sanitizeHtml = (html: string): string => sanitizeBalanced(balanceTags(reduceHtml(replaceNul(html), 'all')))

/** Like `sanitizeHtml`, but comments and tags unknown to HTML (`Array<string>`) stay as text. */
export const sanitizeText = (text: string): string =>
  sanitizeBalanced(balanceTags(reduceHtml(replaceNul(text), 'known')))

/** The parser of the package, which has the last word, would only write a quotation mark in another way. */
const sanitizeBalanced = (html: string): string =>
  BEYOND_PLAIN.test(html) ? sanitize(html, SANITIZE_OPTIONS) : html.replaceAll('&quot;', '"')

const PLAIN_TAG = `<\\/?(?:${ALLOWED_TAGS.filter((tag) => tag !== 'a').join('|')})`
/** Anything but allowed tags without attributes, text and the references of `ESCAPES`. */
const BEYOND_PLAIN = new RegExp(`(?!${PLAIN_TAG}>)<|(?<!${PLAIN_TAG})>|&(?!(?:amp|lt|gt|quot);)`)

/** Which forbidden tags are dropped: all, those that HTML knows, or none. The others become text. */
type DropMode = 'all' | 'known' | 'none'

type HtmlTag = { kind: 'tag'; source: string; name: string; closing: boolean; attributes: string }
type HtmlPiece = HtmlTag | { kind: 'text' | 'comment' | 'script'; source: string }

/** Leaves allowed tags (`<tag>`, `</tag>`, `<a href="…">`), not yet balanced, and escaped text. */
function reduceHtml(html: string, drops: DropMode): string {
  const parts: string[] = []
  const find = createFinder(html)
  for (let at = 0; at < html.length; ) {
    const piece = readPiece(html, at, find)
    parts.push(reducePiece(piece, html.charAt(at - 1), drops))
    at += piece.source.length
  }
  // Dropped block tags are marked by NUL, which becomes a line break if two words would otherwise join.
  const joined = parts.join('')
  return joined.replace(/(?<=[^\s>\0])\0+(?=[^\s<\0]|<[^/])/g, '\n').replaceAll('\0', '')
}

function reducePiece(piece: HtmlPiece, before: string, drops: DropMode): string {
  if (piece.kind === 'text') return escapeText(piece.source)
  const escaped = escapeCode(piece.source)
  if (piece.kind !== 'tag') return drops === 'all' || (drops === 'known' && piece.kind === 'script') ? '' : escaped
  const name = piece.name.toLowerCase()
  if (name === 'br') return '\n'
  if (drops !== 'all' && !piece.closing && readsAsCode(piece, before, drops)) return escaped
  const tag = name === 'b' ? 'strong' : name === 'i' ? 'em' : name
  if (ALLOWED_TAG_SET.has(tag)) {
    if (piece.closing) return `</${tag}>`
    if (tag !== 'a') return `<${tag}>`
    const href = readHref(piece.attributes)
    if (SAFE_URL.test(href)) return `<a href="${escapeText(href)}">`
  }
  if (drops === 'none' || (drops === 'known' && !BLOCK_TAGS.has(name) && !INLINE_TAGS.has(name))) return escaped
  return BLOCK_TAGS.has(name) ? '\0' : ''
}

/** Whether a tag is really code or prose: `List<Object>`, `a <b or c> d`. */
function readsAsCode(tag: HtmlTag, before: string, drops: DropMode): boolean {
  const attributes = tag.attributes.replaceAll('/', ' ').trim()
  if (attributes !== '') return !attributes.includes('=')
  return /^[A-Z]/.test(tag.name) && (drops === 'none' || /[\w$]/.test(before))
}

type FindPattern = (pattern: string, from: number) => number | undefined

/** Remembers failed searches, so that a thousand unclosed tags are searched for only once. */
function createFinder(html: string): FindPattern {
  const missing = new Set<string>()
  return (pattern, from) => {
    const search = new RegExp(pattern, 'gi')
    search.lastIndex = from
    const at = missing.has(pattern) ? undefined : search.exec(html)?.index
    if (at === undefined) missing.add(pattern)
    return at
  }
}

/** The text, tag, comment or script at `at`. Over all calls, each character is read only a few times. */
function readPiece(html: string, at: number, find: FindPattern): HtmlPiece {
  const upTo = (kind: 'text' | 'comment' | 'script', end: number): HtmlPiece => ({ kind, source: html.slice(at, end) })
  if (html[at] !== '<') return upTo('text', find('<', at) ?? html.length)
  if (html[at + 1] === '!' || html[at + 1] === '?') {
    const terminator = html.startsWith('<!--', at) ? '-->' : '>'
    const end = find(terminator, at + 2)
    return end === undefined ? upTo('text', at + 2) : upTo('comment', end + terminator.length)
  }
  const start = /<(\/?)([a-zA-Z][^\t\n\f\r />< ]*)/y
  start.lastIndex = at
  const [matched, slash, name] = start.exec(html) ?? []
  if (matched === undefined || name === undefined) return upTo('text', at + 1)
  const end = findTagEnd(html, at + matched.length, find)
  if (html[end - 1] !== '>') return upTo('text', end)
  if (slash === '' && /^(?:script|style)$/i.test(name)) {
    const closing = find(`</${name.toLowerCase()}[\\t\\n\\f\\r /]*>`, end)
    if (closing !== undefined) return upTo('script', html.indexOf('>', closing) + 1)
  }
  const attributes = html.slice(at + matched.length, end - 1)
  return { kind: 'tag', source: html.slice(at, end), name, closing: slash === '/', attributes }
}

/** The index after the tag's `>`. Without a `>` before the next tag, the end of the text that begins here. */
function findTagEnd(html: string, from: number, find: FindPattern): number {
  const stop = /["'<>]/g
  stop.lastIndex = from
  for (let match = stop.exec(html); match !== null; match = stop.exec(html)) {
    const [character] = match
    if (character === '>') return match.index + 1
    if (character === '<') return match.index
    // A quote opens a value only after an equals sign. Elsewhere, as in `it's`, it is an ordinary character.
    if (!/=[\t\n\f\r ]*$/.test(html.slice(Math.max(from, match.index - 32), match.index))) continue
    const close = find(character, match.index + 1)
    if (close === undefined) return from
    stop.lastIndex = close + 1
  }
  return from
}

/** Uses the first `href`, like browsers. Does not decode character references. */
function readHref(attributes: string): string {
  const pattern = /([^\t\n\f\r "'<>/=]+)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r "'<>]+)))?/g
  const match = [...attributes.matchAll(pattern)].find(([, name]) => name?.toLowerCase() === 'href') ?? []
  return (match[2] ?? match[3] ?? match[4] ?? '').trim()
}

/** Closes open tags and drops unmatched closing tags, so that no parser needs to repair the result. */
function balanceTags(html: string): string {
  const open: string[] = []
  const closeTo = (depth: number): string => open.splice(depth).reduceRight((ends, name) => `${ends}</${name}>`, '')
  const body = html.replace(/<(\/?)([a-z]+)[^>]*>/g, (tag: string, slash: string, name: string) => {
    if (slash === '/') return open.includes(name) ? closeTo(open.lastIndexOf(name)) : ''
    const top = open.at(-1)
    const implied = top === 'p' ? /^(?:p|pre|ul|ol)$/.test(name) : top === 'li' && name === 'li'
    const closingTags = closeTo(
      name === 'a' && open.includes('a') ? open.indexOf('a') : open.length - (implied ? 1 : 0),
    )
    if (open.length >= MAX_DEPTH) return closingTags
    open.push(name)
    return closingTags + tag
  })
  return body + closeTo(0)
}

function writeTokens(tokens: readonly Token[]): string {
  // Without lexer extensions, the token's type always matches a writer.
  return tokens
    .map((token) => (TOKEN_WRITERS[token.type as keyof TokenWriters] as (token: Token) => string)(token))
    .join('')
}

type TokenWriters = { readonly [Type in MarkedToken['type']]: (token: Extract<MarkedToken, { type: Type }>) => string }

/** Renders each Markdown construct with allowed tags only. */
const TOKEN_WRITERS: TokenWriters = {
  blockquote: (token) => writeTokens(token.tokens),
  br: () => '\n',
  checkbox: (token) => escapeCode(token.raw),
  code: (token) => `<pre><code>${escapeCode(token.text)}</code></pre>\n`,
  codespan: (token) => `<code>${escapeCode(token.text)}</code>`,
  // Markdown reads `[INFO]: done` as a link definition, which would be invisible.
  def: (token) => `<p>${escapeCode(token.raw)}</p>\n`,
  del: (token) => writeTokens(token.tokens),
  em: (token) => `<em>${writeTokens(token.tokens)}</em>`,
  escape: (token) => escapeCode(token.text),
  heading: (token) => `<p><strong>${writeTokens(token.tokens)}</strong></p>\n`,
  hr: () => '',
  html: (token) => {
    const html = reduceHtml(token.text, 'none')
    return token.block && !html.includes('<') ? `<pre>${html.trimEnd()}</pre>\n` : html
  },
  image: (token) => writeLink(token.href, escapeText(token.text || (SAFE_URL.test(token.href) ? token.href : ''))),
  link: (token) => writeLink(token.href, writeTokens(token.tokens)),
  // A first number other than 1 is written as text, because the attribute for it is not allowed.
  list: (token) => {
    const numbered = token.ordered && token.start !== 1
    const items = token.items.map((item, at) => [
      numbered ? `${Number(token.start) + at}. ` : '',
      writeTokens(item.tokens),
    ])
    const tag = token.ordered && !numbered ? 'ol' : 'ul'
    return `<${tag}>\n${items.map((item) => `<li>${item.join('')}</li>\n`).join('')}</${tag}>\n`
  },
  list_item: (token) => writeTokens(token.tokens),
  paragraph: (token) => `<p>${writeTokens(token.tokens)}</p>\n`,
  space: () => '',
  strong: (token) => `<strong>${writeTokens(token.tokens)}</strong>`,
  table: (token) =>
    [token.header, ...token.rows].map((cells) => `<p>${cells.map(writeCell).join(' | ')}</p>\n`).join(''),
  text: (token) => (token.tokens ? writeTokens(token.tokens) : escapeText(token.text)),
}

const writeCell = ({ header, tokens }: Tokens.TableCell): string =>
  header ? `<strong>${writeTokens(tokens)}</strong>` : writeTokens(tokens)

/** Removes links from `innerHtml`, because links cannot be nested. Shows a target that cannot be linked as text. */
function writeLink(href: string, innerHtml: string): string {
  const text = innerHtml.replace(/<\/?a(?: [^>]*)?>/g, '')
  if (SAFE_URL.test(href)) return `<a href="${escapeText(href)}">${text}</a>`
  const target = escapeText(href)
  return READABLE_TARGET.test(href) && target !== text && target !== '' ? `${text} (${target})` : text
}

const replaceNul = (text: string): string => text.replaceAll('\0', '\ufffd')
const toPreformatted = (text: string): string => `<pre>${escapeCode(text)}</pre>`
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeCode = (text: string): string => text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? character)
/** Keeps complete character references. Any other `&`, as in `?a=1&copy=2`, is escaped. */
const escapeText = (text: string): string =>
  text.replace(
    /&(?!(?:[a-z][a-z0-9]{0,31}|#\d{1,7}|#x[\da-f]{1,6});)|[<>"]/gi,
    (character) => ESCAPES[character] ?? character,
  )

const percentEncode = (url: string): string =>
  url
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[^\x21-\x7e]|["<>`\\^{|}]/gu, (character) => encodeURIComponent(character))

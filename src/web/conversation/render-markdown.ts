/** Renders Markdown to safe elements, and caches them for scrolling back. */
import DOMPurify, { type Config } from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN_LENGTH } from '../../lib/markup/markdown.ts'
import { ALLOWED_SCHEMES, ALLOWED_TAGS, LINK_REL } from '../../model/html-policy.ts'

const MAX_CACHED_TEXTS = 300
const cache = new Map<string, DocumentFragment>()

export function renderMessageMarkdown(text: string, isTyped: boolean): DocumentFragment {
  const key = `${isTyped ? 't' : 'p'}${text}`
  // A cached fragment would keep its parser's document alive.
  const fragment = cache.get(key) ?? document.adoptNode(renderSafeMarkdown(text, isTyped))
  cache.delete(key)
  cache.set(key, fragment)
  if (cache.size > MAX_CACHED_TEXTS)
    for (const oldest of cache.keys()) {
      cache.delete(oldest)
      break
    }
  return fragment.cloneNode(true) as DocumentFragment
}

/**
 * Markdown as elements that may be shown. Two walls: what looks like HTML in a text is shown as text, and what is made of
 * the Markdown goes through a list of allowed tags, wider than the one of `segments[].html` by headings, quotes, tables,
 * line breaks, rules and deletions. Pictures become links: nothing is ever loaded from elsewhere.
 */
const MORE_ALLOWED_TAGS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'br', 'hr', 'del'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const LANGUAGE_CLASS = /^language-[\w+#.-]{1,40}$/
const ALLOWED_URLS = new RegExp(`^(?:${ALLOWED_SCHEMES.join('|')}):`, 'i')

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const renderer = {
  html: ({ text }: Tokens.HTML | Tokens.Tag): string => (/^<br\s*\/?>\s*$/i.test(text) ? '<br>' : escapeHtml(text)),
  image: ({ href, text }: Tokens.Image): string => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
}
const proseRenderer = new Marked({ renderer })
const typedRenderer = new Marked({
  renderer: {
    ...renderer,
    text(token: Tokens.Text | Tokens.Escape): string {
      if ('tokens' in token && token.tokens) return this.parser.parseInline(token.tokens)
      const text = 'escaped' in token && token.escaped ? token.text : escapeHtml(token.text)
      return text.replaceAll('\n', '<br>')
    },
  },
})

DOMPurify.addHook('uponSanitizeAttribute', (node, data) => {
  if (data.attrName === 'class') data.keepAttr = node.nodeName === 'CODE' && LANGUAGE_CLASS.test(data.attrValue)
})
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return
  if (!node.hasAttribute('href')) return
  node.setAttribute('rel', LINK_REL)
  node.setAttribute('target', '_blank')
})

const SANITIZER_CONFIG: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [...ALLOWED_TAGS, ...MORE_ALLOWED_TAGS],
  ALLOWED_ATTR: ['href', 'class'],
  ALLOWED_URI_REGEXP: ALLOWED_URLS,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
}

/** @param isTyped keeps every line break */
function renderSafeMarkdown(text: string, isTyped = false): DocumentFragment {
  const html = markdownToHtml(text, isTyped)
  if (html === undefined) return renderPlainText(text)
  return DOMPurify.sanitize(html, SANITIZER_CONFIG)
}

/** Undefined for a text that would take too long. */
function markdownToHtml(text: string, isTyped: boolean): string | undefined {
  if (text.length > MAX_MARKDOWN_LENGTH) return undefined
  try {
    return (isTyped ? typedRenderer : proseRenderer).parser(lexMarkdown(text))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function renderPlainText(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  const pre = fragment.appendChild(document.createElement('pre'))
  pre.textContent = text
  return fragment
}

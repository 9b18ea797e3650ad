/**
 * Markdown as elements that may be shown. Two walls: what looks like HTML in a text is shown as text, and what is made of
 * the Markdown goes through a list of allowed tags, wider than the one of `segments[].html` by headings, quotes, tables,
 * line breaks, rules and deletions. Pictures become links: nothing is ever loaded from elsewhere.
 */
import DOMPurify, { type Config } from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { lexMarkdown, MAX_MARKDOWN } from '../../../lib/markdown.ts'
import { ALLOWED_SCHEMES, ALLOWED_TAGS, LINK_REL } from '../../../model/html-policy.ts'

const WIDER_TAGS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'br', 'hr', 'del'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const LANGUAGE = /^language-[\w+#.-]{1,40}$/
const SCHEMES = new RegExp(`^(?:${ALLOWED_SCHEMES.join('|')}):`, 'i')

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

const renderer = {
  html: ({ text }: Tokens.HTML | Tokens.Tag): string => (/^<br\s*\/?>\s*$/i.test(text) ? '<br>' : escaped(text)),
  image: ({ href, text }: Tokens.Image): string => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
}
const prose = new Marked({ renderer })
const typed = new Marked({
  renderer: {
    ...renderer,
    text(token: Tokens.Text | Tokens.Escape): string {
      if ('tokens' in token && token.tokens) return this.parser.parseInline(token.tokens)
      const text = 'escaped' in token && token.escaped ? token.text : escaped(token.text)
      return text.replaceAll('\n', '<br>')
    },
  },
})

DOMPurify.addHook('uponSanitizeAttribute', (node, data) => {
  if (data.attrName === 'class') data.keepAttr = node.nodeName === 'CODE' && LANGUAGE.test(data.attrValue)
})
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return
  if (!node.hasAttribute('href')) return
  node.setAttribute('rel', LINK_REL)
  node.setAttribute('target', '_blank')
})

const CONFIG: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: [...ALLOWED_TAGS, ...WIDER_TAGS],
  ALLOWED_ATTR: ['href', 'class'],
  ALLOWED_URI_REGEXP: SCHEMES,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
}

/** @param isTyped a line break is meant where somebody pressed Enter */
export function render(text: string, isTyped = false): DocumentFragment {
  const html = markdown(text, isTyped)
  if (html === undefined) return plain(text)
  return DOMPurify.sanitize(html, CONFIG)
}

/** Nothing for a text that would take too long. */
function markdown(text: string, isTyped: boolean): string | undefined {
  if (text.length > MAX_MARKDOWN) return undefined
  try {
    return (isTyped ? typed : prose).parser(lexMarkdown(text))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function plain(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment()
  const pre = fragment.appendChild(document.createElement('pre'))
  pre.textContent = text
  return fragment
}

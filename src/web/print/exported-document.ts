/** The exported document of a conversation, as elements of this page: its letter alone, without its script and style. */
import purifierFor from 'dompurify'
import { fillLabel } from './filled.ts'

const DOCUMENT_TAGS = [
  ...['main', 'section', 'div', 'header', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote'],
  ...['ul', 'ol', 'li', 'pre', 'code', 'b', 'strong', 'em', 'del', 'ins', 'span', 'time', 'a', 'img'],
  ...['details', 'summary', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const DOCUMENT_ATTRIBUTES = ['class', 'datetime', 'href', 'src', 'alt', 'open', 'data-t', 'data-a']
/** Pictures are in the document; nothing is loaded from elsewhere, and paper has no anchors. */
const DOCUMENT_URLS = /^(?:https?:|mailto:|data:image\/)/i

/** @param labels what `data-t` names, in another language than the document's; those that it lacks stay */
export function parseExportedDocument(html: string, labels: { readonly [label: string]: string }): DocumentFragment {
  // Its style and script stand outside of it: they are not even parsed.
  const mainHtml = html.slice(html.indexOf('<main>'), html.lastIndexOf('</main>'))
  const sanitized = purifierFor(window).sanitize(mainHtml, {
    ALLOWED_TAGS: DOCUMENT_TAGS,
    ALLOWED_ATTR: DOCUMENT_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ADD_URI_SAFE_ATTR: ['data-t', 'data-a', 'datetime'],
    ALLOWED_URI_REGEXP: DOCUMENT_URLS,
    RETURN_DOM_FRAGMENT: true,
  })
  const main = sanitized.querySelector('main')
  for (const element of main?.querySelectorAll<HTMLElement>('[data-t]') ?? []) {
    const label = labels[element.dataset['t'] ?? '']
    if (label !== undefined) element.textContent = fillLabel(label, element.dataset['a'])
  }
  const fragment = document.createDocumentFragment()
  fragment.append(...(main?.childNodes ?? []))
  return fragment
}

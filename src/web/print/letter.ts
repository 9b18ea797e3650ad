/** The exported document of a conversation, as elements of this page: its letter alone, without its script and style. */
import purifierFor from 'dompurify'
import { filled } from './filled.ts'

const TAGS = [
  ...['main', 'section', 'div', 'header', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote'],
  ...['ul', 'ol', 'li', 'pre', 'code', 'b', 'strong', 'em', 'del', 'ins', 'span', 'time', 'a', 'img'],
  ...['details', 'summary', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const ATTRIBUTES = ['class', 'datetime', 'href', 'src', 'alt', 'open', 'data-t', 'data-a']
/** Pictures are in the document; nothing is loaded from elsewhere, and paper has no anchors. */
const ADDRESSES = /^(?:https?:|mailto:|data:image\/)/i

/** @param labels what `data-t` names, in another language than the document's; those that it lacks stay */
export function letterOf(html: string, labels: { readonly [label: string]: string }): DocumentFragment {
  // Its style and script stand outside of it: they are not even parsed.
  const whole = html.slice(html.indexOf('<main>'), html.lastIndexOf('</main>'))
  const letter = purifierFor(window).sanitize(whole, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ADD_URI_SAFE_ATTR: ['data-t', 'data-a', 'datetime'],
    ALLOWED_URI_REGEXP: ADDRESSES,
    RETURN_DOM_FRAGMENT: true,
  })
  const main = letter.querySelector('main')
  for (const one of main?.querySelectorAll<HTMLElement>('[data-t]') ?? []) {
    const label = labels[one.dataset['t'] ?? '']
    if (label !== undefined) one.textContent = filled(label, one.dataset['a'])
  }
  const fragment = document.createDocumentFragment()
  fragment.append(...(main?.childNodes ?? []))
  return fragment
}

/** The conversation of an exported HTML page as elements of this page, without its script and style. */
import purifierFor from 'dompurify'
import { EXPORT_LABELS, type ExportLabel, exportLabelText, parseLabelValues } from '../../model/export-labels.ts'

const DOCUMENT_TAGS = [
  ...['main', 'section', 'div', 'header', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote'],
  ...['ul', 'ol', 'li', 'pre', 'code', 'b', 'strong', 'em', 'del', 'ins', 'span', 'time', 'a', 'img'],
  ...['details', 'summary', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const DOCUMENT_ATTRIBUTES = ['class', 'datetime', 'href', 'src', 'alt', 'open', 'data-t', 'data-a']
/** Images are in the document: nothing is loaded from elsewhere. */
const DOCUMENT_URLS = /^(?:https?:|mailto:|data:image\/)/i

/** @param isTranslated shows the labels in Japanese; the document has them in English */
export function parseExportedDocument(html: string, isTranslated: boolean): DocumentFragment {
  // The style and the script are outside `main`: they are not even parsed.
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
  if (isTranslated)
    for (const element of main?.querySelectorAll<HTMLElement>('[data-t]') ?? []) {
      const { t: label = '', a: values } = element.dataset
      if (isExportLabel(label)) element.textContent = exportLabelText(label, parseLabelValues(values), 'ja')
    }
  const fragment = document.createDocumentFragment()
  fragment.append(...(main?.childNodes ?? []))
  return fragment
}

const isExportLabel = (name: string): name is ExportLabel => Object.hasOwn(EXPORT_LABELS, name)

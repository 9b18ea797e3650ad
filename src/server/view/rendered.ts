/** Texts as sanitised HTML. What is shown again is not rendered again. */
import { renderMarkdown, sanitizeText } from '../../lib/html.ts'
import { Recent } from './recent.ts'

const MOST_LETTERS = 12_000_000

const known = new Recent<string, string>(MOST_LETTERS, (html) => html.length)

export function htmlOf(text: string): string {
  const before = known.get(text)
  if (before !== undefined) return before
  const html = renderMarkdown(text)
  known.set(text, html)
  return html
}

/** The letter of the specification: a message's text taken as HTML. */
export const letterOf = (text: string): string => sanitizeText(text)

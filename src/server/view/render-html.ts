/** Texts as sanitised HTML. What is shown again is not rendered again. */
import { renderMarkdown, sanitizeText } from '../../lib/markup/html.ts'
import { LruCache } from './lru-cache.ts'

const MAX_CACHED_LENGTH = 12_000_000

const cache = new LruCache<string, string>(MAX_CACHED_LENGTH, (html) => html.length)

export function renderHtml(text: string): string {
  const before = cache.get(text)
  if (before !== undefined) return before
  const html = renderMarkdown(text)
  cache.set(text, html)
  return html
}

/** The letter of the specification: a message's text taken as HTML. */
export const renderSpecHtml = (text: string): string => sanitizeText(text)

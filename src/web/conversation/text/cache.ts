/** Texts that were rendered are kept for a while: scrolling back costs nothing. */
import { renderSafeMarkdown } from './render.ts'

const MAX_CACHED_TEXTS = 300
const cache = new Map<string, DocumentFragment>()

export function renderMessageMarkdown(text: string, isTyped: boolean): DocumentFragment {
  const key = `${isTyped ? 't' : 'p'}${text}`
  // What is kept would keep the document that it was made in.
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

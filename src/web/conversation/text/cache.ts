/** Texts that were rendered are kept for a while: scrolling back costs nothing. */
import { render } from './render.ts'

const MOST = 300
const kept = new Map<string, DocumentFragment>()

export function rendered(text: string, isTyped: boolean): DocumentFragment {
  const key = `${isTyped ? 't' : 'p'}${text}`
  // What is kept would keep the document that it was made in.
  const made = kept.get(key) ?? document.adoptNode(render(text, isTyped))
  kept.delete(key)
  kept.set(key, made)
  if (kept.size > MOST)
    for (const oldest of kept.keys()) {
      kept.delete(oldest)
      break
    }
  return made.cloneNode(true) as DocumentFragment
}

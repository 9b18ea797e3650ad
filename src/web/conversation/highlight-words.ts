/** The words of a query, and their highlights in the page: no element is changed. */

/** Operators are not words. */
export const queryWords = (query: string): readonly string[] =>
  Array.from(query.matchAll(/"([^"]+)"|(\S+)/g), ([, phrase, word]) => phrase ?? word ?? '')
    .filter(
      (word) =>
        word !== 'OR' && word !== 'AND' && !word.startsWith('-') && !/^\w+:/.test(word) && !/^\/.*\/\w*$/.test(word),
    )
    .map((word) => word.replace(/\*$/, '').toLowerCase())
    .filter((word) => word !== '')

const HIGHLIGHT_NAME = 'find'
const MAX_RANGES = 500

export function highlightWords(root: HTMLElement, words: readonly string[]): void {
  if (!('highlights' in CSS)) return
  CSS.highlights.delete(HIGHLIGHT_NAME)
  if (words.length === 0) return
  const ranges: Range[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node && ranges.length < MAX_RANGES; node = walker.nextNode()) {
    const text = node.nodeValue?.toLowerCase() ?? ''
    for (const word of words)
      for (
        let at = text.indexOf(word);
        at >= 0 && ranges.length < MAX_RANGES;
        at = text.indexOf(word, at + word.length)
      ) {
        // Lowercasing may lengthen a text.
        const end = Math.min(at + word.length, node.nodeValue?.length ?? 0)
        const range = new Range()
        range.setStart(node, Math.min(at, end))
        range.setEnd(node, end)
        ranges.push(range)
      }
  }
  CSS.highlights.set(HIGHLIGHT_NAME, new Highlight(...ranges))
}

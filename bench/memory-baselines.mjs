/** BM25 over words and over pairs of characters: what the retrieval of memory is compared with. */

const SATURATION = 1.2
const LENGTH_PENALTY = 0.75
const segmenters = new Map()

/** Words as the platform finds them, also in Japanese and Chinese. */
export function wordsOf(text) {
  const locale = /[\u3040-\u30ff]/.test(text) ? 'ja' : /[\u4e00-\u9fff]/.test(text) ? 'zh' : 'en'
  if (!segmenters.has(locale)) segmenters.set(locale, new Intl.Segmenter(locale, { granularity: 'word' }))
  return [...segmenters.get(locale).segment(text.normalize('NFKC').toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike ? segment : [],
  )
}

export function bigramsOf(text) {
  const characters = [...text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ')]
  return characters.slice(1).map((one, at) => characters[at] + one)
}

/** @param documents text by id @param termsOf `wordsOf` or `bigramsOf` @returns a function from a question to ids, best first */
export function bm25(documents, termsOf) {
  const postings = new Map()
  const lengths = new Map()
  for (const [id, text] of documents) {
    const terms = termsOf(text)
    lengths.set(id, terms.length)
    const counts = new Map()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, count] of counts) {
      if (!postings.has(term)) postings.set(term, [])
      postings.get(term).push([id, count])
    }
  }
  const average = [...lengths.values()].reduce((sum, one) => sum + one, 0) / Math.max(1, lengths.size)
  return (question) => {
    const scores = new Map()
    for (const term of new Set(termsOf(question))) {
      const list = postings.get(term) ?? []
      const rarity = Math.log(1 + (lengths.size - list.length + 0.5) / (list.length + 0.5))
      for (const [id, count] of list) {
        const norm = SATURATION * (1 - LENGTH_PENALTY + (LENGTH_PENALTY * lengths.get(id)) / average)
        scores.set(id, (scores.get(id) ?? 0) + (rarity * count * (SATURATION + 1)) / (count + norm))
      }
    }
    return [...scores].sort((a, b) => b[1] - a[1]).map(([id]) => id)
  }
}

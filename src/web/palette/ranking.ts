/** Which entries of the command palette match the typed words, the best first. */

export interface PaletteEntry {
  /** Distinguishes it from all others. */
  readonly id: string
  readonly text: string
  /** Shown after the text, and searched with it. */
  readonly detail?: string
  readonly key?: string
  run(): unknown
}

const normalize = (text: string): string => text.normalize('NFKC').toLowerCase()

/** 3 at the beginning of the text, 2 at the beginning of a word, 1 inside a word, 0 if a word is missing. */
function matchQuality(entry: PaletteEntry, words: readonly string[]): number {
  const text = normalize(entry.text)
  const all = `${text} ${normalize(entry.detail ?? '')}`
  let worst = 3
  for (const word of words) {
    if (!all.includes(word)) return 0
    const quality = text.startsWith(word) ? 3 : text.split(/[\s/._-]+/).some((part) => part.startsWith(word)) ? 2 : 1
    worst = Math.min(worst, quality)
  }
  return worst
}

/** Entries of equal quality keep their order. Without words, the first `limit`. */
export function rankEntries(entries: readonly PaletteEntry[], typed: string, limit: number): readonly PaletteEntry[] {
  const words = normalize(typed)
    .split(/\s+/)
    .filter((word) => word !== '')
  return entries
    .map((entry) => ({ entry, quality: matchQuality(entry, words) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .slice(0, limit)
    .map(({ entry }) => entry)
}

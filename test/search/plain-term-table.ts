/** The twin of `wasm/term-table.ts` in plain TypeScript: slow, and simple enough to be seen to be right. */
import { BlockWriter, MAX_WORD_BYTES, type TermBlocks } from '../../src/search/segments/blocks.ts'
import { MAX_FREQUENCY, PostingList } from '../../src/search/segments/postings.ts'
import { analyse } from '../../src/search/words/analyse.ts'
import { isAscii } from '../../src/search/words/characters.ts'
import { identifierParts } from '../../src/search/words/identifiers.ts'

/** The terms of a text, with repetitions. Lines that are not ASCII are one text. */
export function termsOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return [
    ...lines.filter(isAscii).flatMap(asciiTerms),
    ...analysedTerms(lines.filter((line) => !isAscii(line)).join('\n')),
  ]
}

const asciiTerms = (text: string): readonly string[] =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== '')
    .flatMap((word) => [word, ...identifierParts(word)].map((one) => one.toLowerCase()))

const analysedTerms = (text: string): readonly string[] =>
  analyse(text)
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .split(/[^a-zA-Z0-9_\u0080-\u{10ffff}]+/u)
    .filter((word) => word !== '' && word !== '_')

export function plainTermBlocks(texts: readonly string[]): TermBlocks {
  const frequencies = new Map<string, Map<number, number>>()
  for (const [document, text] of texts.entries())
    for (const word of termsOf(text)) {
      const term = Buffer.from(word).subarray(0, MAX_WORD_BYTES).toString('latin1')
      const list = frequencies.get(term) ?? new Map<number, number>()
      list.set(document, Math.min(MAX_FREQUENCY, (list.get(document) ?? 0) + 1))
      frequencies.set(term, list)
    }
  const writer = new BlockWriter()
  for (const [term, list] of [...frequencies].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const postings = new PostingList()
    for (const [document, frequency] of list) postings.add(document, frequency)
    writer.add(Buffer.from(term, 'latin1'), postings)
  }
  return writer.take()
}

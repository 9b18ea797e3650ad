/** Turns a text into the words that FTS5 is to index. */
import { partsInAscii } from './words/ascii.ts'
import { GAP } from './words/characters.ts'
import { BOUNDARY } from './words/identifiers.ts'
import { writtenText } from './words/unicode.ts'

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/**
 * First the text's own words in their order, then, once for each different identifier, a boundary and its parts. A run of characters of
 * a script without spaces becomes overlapping pairs and its last character, so that each character begins a word.
 */
export function analyse(text: string): string {
  return NOT_ASCII.test(text) ? writtenText(text.normalize('NFKC')) : analyseAscii(text)
}

/** The same, for a text that is known to be ASCII. Case is left to the tokenizer. */
export function analyseAscii(text: string): string {
  const words = text.replaceAll(BOUNDARY, ' ')
  return (words.includes(GAP) ? words.replaceAll(GAP, ` ${BOUNDARY} `) : words) + partsInAscii(text)
}

const NOT_ASCII = /[^\x00-\x7f]/

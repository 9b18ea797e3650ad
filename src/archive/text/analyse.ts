/** Turns a text into the words that FTS5 is to index. */
import { partsInAscii } from './words/ascii.ts'
import { GAP, isAscii } from './words/characters.ts'
import { BOUNDARY } from './words/identifiers.ts'
import { writtenText } from './words/unicode.ts'

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/** Raise it when other words are written than before: every text has to be indexed anew. */
export const ANALYSIS_VERSION = 1

/**
 * The text's own words in their order; runs of characters of a script without spaces become overlapping pairs and their last character.
 * Before them each different character of the runs by itself, behind them the parts of each different identifier.
 */
export function analyse(text: string): string {
  return isAscii(text) ? analyseAscii(text) : writtenText(text.normalize('NFKC'))
}

/** The same, for a text that is known to be ASCII. Case is left to the tokenizer. */
export function analyseAscii(text: string): string {
  const words = text.replaceAll(BOUNDARY, ' ')
  return (words.includes(GAP) ? words.replaceAll(GAP, ` ${BOUNDARY} `) : words) + partsInAscii(text)
}

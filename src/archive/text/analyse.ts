/** Turns a text into the words that FTS5 is to index. */
import { Bytes } from '../rows/bytes.ts'
import { writeAscii } from './words/ascii.ts'
import { isAscii, normalised } from './words/characters.ts'
import { BOUNDARY } from './words/identifiers.ts'
import { writeText } from './words/unicode.ts'

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/**
 * The text's own words in their order; runs of characters of a script without spaces become overlapping pairs and their last character.
 * Before them each different character of the runs by itself, behind them the parts of each different identifier.
 */
export function analyseInto(text: string, into: Bytes): void {
  if (isAscii(text)) writeAscii(text, into)
  else writeText(normalised(text), into)
}

const scratch = new Bytes()

export function analyse(text: string): string {
  analyseInto(text, scratch)
  return Buffer.from(scratch.taken().buffer).toString('utf8')
}

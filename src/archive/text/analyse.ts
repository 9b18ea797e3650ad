/** Turns a text into the words that FTS5 is to index. */
import { ByteBuffer } from '../rows/bytes.ts'
import { writeAsciiWords } from './words/ascii.ts'
import { isAscii, normalise } from './words/characters.ts'
import { BOUNDARY } from './words/identifiers.ts'
import { writeUnicodeWords } from './words/unicode.ts'

/** The tokenizer that the result is made for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

/**
 * The text's own words in their order; runs of characters of a script without spaces become overlapping pairs and their last character.
 * Before them each different character of the runs by itself, behind them the parts of each different identifier.
 */
export function analyseInto(text: string, into: ByteBuffer): void {
  if (isAscii(text)) writeAsciiWords(text, into)
  else writeUnicodeWords(normalise(text), into)
}

const scratchBuffer = new ByteBuffer()

export function analyse(text: string): string {
  analyseInto(text, scratchBuffer)
  return Buffer.from(scratchBuffer.take().buffer).toString('utf8')
}

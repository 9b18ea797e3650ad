/** Converts a text to words separated by spaces, as the table of titles indexes them. */
import { ByteBuffer } from '../../lib/byte-buffer.ts'
import { normalise } from './characters.ts'
import { BOUNDARY } from './identifiers.ts'
import { writeUnicodeWords } from './unicode.ts'

/** The FTS5 tokenizer that `analyse` writes for. */
export const TOKENIZER = `unicode61 remove_diacritics 2 tokenchars '${BOUNDARY}'`

const scratchBuffer = new ByteBuffer()

/**
 * Words in order. Runs of scripts without spaces become overlapping pairs and their last character. Before the words
 * come the different characters of all runs, after them the parts of the different identifiers.
 */
export function analyse(text: string): string {
  writeUnicodeWords(normalise(text), scratchBuffer)
  return Buffer.from(scratchBuffer.take().buffer).toString('utf8')
}

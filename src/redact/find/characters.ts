/** The characters of a text as numbers, part by part: reading them one by one from a string is several times slower. */
import { endianness } from 'node:os'

/** Characters that are read at once. */
export const CHUNK = 1 << 15
/** So many characters behind a chunk are read, too. */
export const LOOK_AHEAD = 2

const codes = new Uint16Array(CHUNK + LOOK_AHEAD)
const bytes = Buffer.from(codes.buffer)
const isLittle = endianness() === 'LE'

/** Of `CHUNK + LOOK_AHEAD` characters from a position; 0 behind the end. The next call overwrites them. */
export function charactersOf(text: string, from: number): Uint16Array {
  const end = Math.min(text.length, from + codes.length)
  const written = bytes.write(from === 0 && end === text.length ? text : text.slice(from, end), 0, 'utf16le')
  if (!isLittle) bytes.subarray(0, written).swap16()
  if (end - from < codes.length) codes.fill(0, end - from, end - from + LOOK_AHEAD)
  return codes
}

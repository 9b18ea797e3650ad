/** Finds the identifiers of a text that is all ASCII. */
import { ASCII, SEPARATOR } from './characters.ts'
import { add, begin, TELLING, taken } from './identifiers.ts'

const units = new Uint16Array(16_384)
const bytes = Buffer.from(units.buffer)

/** The parts of its identifiers, each with a boundary before it. */
export function partsInAscii(text: string): string {
  for (let start = 0; start < text.length; start += scan(text.slice(start, start + MOST)));
  return taken()
}

/** One less than there is room for: a separator stands behind the last. */
const MOST = units.length - 1

/** @returns how far it came: to the end, or, where a word may go on behind it, to the beginning of that word */
function scan(text: string): number {
  const length = bytes.write(text, 'utf16le') >> 1
  units[length] = 0
  begin()
  let three = 0
  for (let at = 0; at < length; at++) {
    three = ((three << 2) | (ASCII[units[at] ?? 0] ?? SEPARATOR)) & 63
    if (TELLING[three] === 0) continue
    const end = wordEnd(at)
    if (end === MOST) break
    add(units, wordStart(at), end, ASCII)
    three = 0
    at = end
  }
  return length < MOST ? length : wordStart(length) || length
}

function wordEnd(from: number): number {
  let at = from
  while (ASCII[units[at] ?? 0] !== SEPARATOR) at++
  return at
}

function wordStart(from: number): number {
  let at = from
  while (at > 0 && ASCII[units[at - 1] ?? 0] !== SEPARATOR) at--
  return at
}

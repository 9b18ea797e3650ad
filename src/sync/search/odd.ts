/** Finds characters in raw bytes that the search takes for others, so that the bytes around them prove nothing. */
import { isAscii } from 'node:buffer'
import { normalForm, withoutIgnored } from '../../archive/text/words/characters.ts'

/** What needles are made of: ASCII letters and digits, hiragana, Han, Hangul. */
const IN_NEEDLES = /[a-z0-9\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]/
/** What composes with the character before it. */
const COMPOSES = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff]/u

/** By its first three bytes in UTF-8, of which two bytes' sequences have but two. */
let table: Uint8Array | undefined

const SHORT = 32 * 64
const spotOf = (first: number, second: number, third: number): number =>
  first < 0xe0
    ? ((first - 0xc0) << 6) | (second & 63)
    : SHORT + (((first - 0xe0) << 12) | ((second & 63) << 6) | (third & 63))

/** Between them lie Han, Hangul, and characters that mean nothing to others: each is only itself. */
const BLOCKS = [
  [0x80, 0x3400],
  [0xa000, 0xac00],
  [0xd7a4, 0xd800],
  [0xf900, 0x20000],
  [0x2f800, 0x2fa20],
  [0xe0000, 0xe1000],
] as const

function oddTable(): Uint8Array {
  const made = new Uint8Array(SHORT + (32 << 12))
  const bytes = Buffer.alloc(4)
  for (const [from, to] of BLOCKS)
    for (let point = from; point < to; point++) {
      if (!isOdd(String.fromCodePoint(point))) continue
      bytes.write(String.fromCodePoint(point))
      made[spotOf(bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0)] = 1
    }
  return made
}

const HIRAGANA = /^[\u3041-\u3096]$/
/** Letters that may lose accents, which the normal form keeps. */
const LATIN = /\p{Script=Latin}/u

function isOdd(character: string): boolean {
  if (HIRAGANA.test(character)) return false
  if (COMPOSES.test(character) || withoutIgnored(character) === '') return true
  if (!LATIN.test(character) && character.normalize('NFKC') === character) return false
  const normal = normalForm(character)
  return normal === '' || IN_NEEDLES.test(normal)
}

const BLOCK = 4096
const ESCAPE = Buffer.from('\\u')

/** Is one of them among the bytes? */
export function holdsOdd(bytes: Buffer): boolean {
  if (holdsOddEscape(bytes)) return true
  if (isAscii(bytes)) return false
  table ??= oddTable()
  for (let from = 0; from < bytes.length; from += BLOCK) {
    const block = bytes.subarray(from, from + BLOCK)
    if (!isAscii(block) && oddIn(bytes, from, Math.min(from + BLOCK, bytes.length), table)) return true
  }
  return false
}

function oddIn(bytes: Buffer, from: number, to: number, odd: Uint8Array): boolean {
  for (let at = from; at < to; at++) {
    const first = bytes[at] ?? 0
    if (first < 0xc0) continue
    if (odd[spotOf(first, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0)] === 1) return true
  }
  return false
}

const ZERO = 0x30

/** Escapes of control characters and signs are as usual as they are harmless. */
function holdsOddEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(ESCAPE); at >= 0; at = bytes.indexOf(ESCAPE, at + 2)) {
    const isControl = bytes[at + 2] === ZERO && bytes[at + 3] === ZERO && (bytes[at + 4] ?? 0) - ZERO < 3
    if (!isControl && isOddEscape(bytes.toString('latin1', at + 2, at + 6))) return true
  }
  return false
}

const isOddEscape = (digits: string): boolean =>
  /^[0-9a-f]{4}$/i.test(digits) && !/^00(?:[0-2]|3[a-f]|40|5[b-f]|60|7[b-f])/i.test(digits)

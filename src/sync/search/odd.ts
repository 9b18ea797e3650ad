/** Finds characters in raw bytes that the search takes for others, so that the bytes around them prove nothing. */
import { isAscii } from 'node:buffer'
import { removeIgnored, toNormalForm } from '../../archive/text/words/characters.ts'

/** What needles are made of: ASCII letters and digits, hiragana, Han, Hangul. */
const NEEDLE_CHARACTERS = /[a-z0-9\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]/
/** What composes with the character before it. */
const COMPOSES = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff]/u

/** By its first three bytes in UTF-8, of which two bytes' sequences have but two. */
let ambiguousTable: Uint8Array | undefined

const TWO_BYTE_SLOTS = 32 * 64
const slotOf = (first: number, second: number, third: number): number =>
  first < 0xe0
    ? ((first - 0xc0) << 6) | (second & 63)
    : TWO_BYTE_SLOTS + (((first - 0xe0) << 12) | ((second & 63) << 6) | (third & 63))

/** Between them lie Han, Hangul, and characters that mean nothing to others: each is only itself. */
const CODE_POINT_BLOCKS = [
  [0x80, 0x3400],
  [0xa000, 0xac00],
  [0xd7a4, 0xd800],
  [0xf900, 0x20000],
  [0x2f800, 0x2fa20],
  [0xe0000, 0xe1000],
] as const

function buildAmbiguousTable(): Uint8Array {
  const slots = new Uint8Array(TWO_BYTE_SLOTS + (32 << 12))
  const bytes = Buffer.alloc(4)
  for (const [from, to] of CODE_POINT_BLOCKS)
    for (let point = from; point < to; point++) {
      if (!isAmbiguous(String.fromCodePoint(point))) continue
      bytes.write(String.fromCodePoint(point))
      slots[slotOf(bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0)] = 1
    }
  return slots
}

const HIRAGANA = /^[\u3041-\u3096]$/
/** Letters that may lose accents, which the normal form keeps. */
const LATIN = /\p{Script=Latin}/u

function isAmbiguous(character: string): boolean {
  if (HIRAGANA.test(character)) return false
  if (COMPOSES.test(character) || removeIgnored(character) === '') return true
  if (!LATIN.test(character) && character.normalize('NFKC') === character) return false
  const normal = toNormalForm(character)
  return normal === '' || NEEDLE_CHARACTERS.test(normal)
}

const BLOCK_BYTES = 4096
const UNICODE_ESCAPE = Buffer.from('\\u')

/** Is one of them among the bytes? */
export function hasAmbiguousCharacter(bytes: Buffer): boolean {
  if (hasAmbiguousEscape(bytes)) return true
  if (isAscii(bytes)) return false
  ambiguousTable ??= buildAmbiguousTable()
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const block = bytes.subarray(from, from + BLOCK_BYTES)
    if (!isAscii(block) && hasAmbiguousBetween(bytes, from, Math.min(from + BLOCK_BYTES, bytes.length), ambiguousTable))
      return true
  }
  return false
}

function hasAmbiguousBetween(bytes: Buffer, from: number, to: number, ambiguousSlots: Uint8Array): boolean {
  for (let at = from; at < to; at++) {
    const first = bytes[at] ?? 0
    if (first < 0xc0) continue
    if (ambiguousSlots[slotOf(first, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0)] === 1) return true
  }
  return false
}

const DIGIT_ZERO = 0x30

/** Escapes of control characters and signs are as usual as they are harmless. */
function hasAmbiguousEscape(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(UNICODE_ESCAPE); at >= 0; at = bytes.indexOf(UNICODE_ESCAPE, at + 2)) {
    const isControl =
      bytes[at + 2] === DIGIT_ZERO && bytes[at + 3] === DIGIT_ZERO && (bytes[at + 4] ?? 0) - DIGIT_ZERO < 3
    if (!isControl && isAmbiguousEscape(bytes.toString('latin1', at + 2, at + 6))) return true
  }
  return false
}

const isAmbiguousEscape = (digits: string): boolean =>
  /^[0-9a-f]{4}$/i.test(digits) && !/^00(?:[0-2]|3[a-f]|40|5[b-f]|60|7[b-f])/i.test(digits)

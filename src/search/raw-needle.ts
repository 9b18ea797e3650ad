/**
 * Rules out logs by their raw bytes before they are parsed. It may miss a chance to rule one out, but never rules out a
 * match.
 */
import { isAscii } from 'node:buffer'
import type { ParsedQuery, QueryNode, QueryTerm } from './query/query.ts'
import { removeIgnored, toNormalForm } from './words/characters.ts'

/** Feed it the pieces of a file, each overlapping the one before. */
export interface RawByteTest {
  /** Returns true if the file may match; no further pieces are then needed. */
  piece(bytes: Buffer): boolean
  /** The answer after the last piece. */
  mayContain(): boolean
}

/** Required overlap of pieces. */
export const PIECE_OVERLAP_BYTES = 256

/** Returns undefined if bytes cannot rule anything out: every log must then be parsed. */
export function rawByteTestOf({ must }: ParsedQuery): (() => RawByteTest) | undefined {
  if (!must) return undefined
  const needles: Needle[] = []
  const condition = needleConditionOf(must, needles)
  if (needles.length === 0) return undefined
  return () => new NeedleTest(needles, condition)
}

class NeedleTest implements RawByteTest {
  readonly #needles: readonly Needle[]
  readonly #needs: NeedleCondition
  readonly #seen: boolean[]
  #isOdd = false

  constructor(needles: readonly Needle[], condition: NeedleCondition) {
    this.#needles = needles
    this.#needs = condition
    this.#seen = needles.map(() => false)
  }

  piece(bytes: Buffer): boolean {
    for (const [at, needle] of this.#needles.entries()) this.#seen[at] ||= containsNeedle(bytes, needle)
    if (this.#needs(this.#seen)) return true
    this.#isOdd ||= hasAmbiguousCharacter(bytes)
    return this.#isOdd
  }

  mayContain(): boolean {
    return this.#isOdd || this.#needs(this.#seen)
  }
}

type NeedleCondition = (seen: readonly boolean[]) => boolean

function needleConditionOf(node: QueryNode, needles: Needle[]): NeedleCondition {
  if (node.kind === 'term') {
    const needle = needleOf(node)
    if (!needle) return () => true
    const at = needles.push(needle) - 1
    return (seen) => seen[at] === true
  }
  const parts = node.of.map((one) => needleConditionOf(one, needles))
  return node.kind === 'any' ? (seen) => parts.some((part) => part(seen)) : (seen) => parts.every((part) => part(seen))
}

/** Parts that every spelling of an identifier contains unchanged, and runs of characters without case or variants. */
const NEEDLE_PARTS = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]+/g

/** Bytes that must occur, ignoring case. */
interface Needle {
  readonly bytes: Uint8Array
  /** For each pair of bytes, how far the needle's end can advance; 0 if the needle may end here. */
  readonly steps: Uint8Array
}

/** The longest part of a term that must occur unchanged in the bytes. */
function needleOf({ text }: QueryTerm): Needle | undefined {
  const pieces = text.normalize('NFKC').match(NEEDLE_PARTS) ?? []
  let longest = ''
  for (const piece of pieces) if (Buffer.byteLength(piece) > Buffer.byteLength(longest)) longest = piece
  const bytes = Buffer.from(longest.toLowerCase())
  return bytes.length === 0 || bytes.length > PIECE_OVERLAP_BYTES / 2 ? undefined : makeNeedle(bytes)
}

/** A one-byte needle contains no pair, so it may end anywhere. */
function makeNeedle(bytes: Buffer): Needle {
  const steps = new Uint8Array(1 << 16).fill(Math.max(0, bytes.length - 1))
  for (let at = 1; at < bytes.length; at++)
    for (const first of bothCases(bytes[at - 1] ?? 0))
      for (const second of bothCases(bytes[at] ?? 0)) steps[(first << 8) | second] = bytes.length - 1 - at
  return { bytes, steps }
}

const bothCases = (byte: number): readonly number[] => (byte >= 0x61 && byte <= 0x7a ? [byte, byte - 0x20] : [byte])

/** Boyer-Moore-Horspool on pairs of bytes: the longer the needle, the fewer bytes are examined. */
function containsNeedle(bytes: Buffer, { bytes: needle, steps }: Needle): boolean {
  const last = needle.length - 1
  const end = bytes.length
  for (let at = last; at < end; ) {
    const step = steps[((bytes[at - 1] ?? 0) << 8) | (bytes[at] ?? 0)] ?? 1
    if (step > 0) {
      at += step
      continue
    }
    let back = 0
    while (back <= last && toLowerByte(bytes[at - back] ?? 0) === needle[last - back]) back++
    if (back > last) return true
    at++
  }
  return false
}

const toLowerByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)

// Some characters are equivalent to others for the search. If a log contains one of them, its bytes prove nothing.

/** Needles consist of ASCII letters and digits, hiragana, Han and Hangul. */
const NEEDLE_CHARACTERS = /[a-z0-9\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]/
/** Characters that compose with the one before. */
const COMPOSES = /[\p{M}\u1160-\u11ff\ud7b0-\ud7ff]/u

/** Lookup by the first three bytes of the UTF-8 sequence, or by both bytes of a two-byte sequence. */
let ambiguousTable: Uint8Array | undefined

const TWO_BYTE_SLOTS = 32 * 64
const slotOf = (first: number, second: number, third: number): number =>
  first < 0xe0
    ? ((first - 0xc0) << 6) | (second & 63)
    : TWO_BYTE_SLOTS + (((first - 0xe0) << 12) | ((second & 63) << 6) | (third & 63))

/** The gaps between the blocks are Han, Hangul and private characters, which are equivalent only to themselves. */
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
/** Latin letters are folded to their base letter, which NFKC does not do. */
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

/** Whether the bytes contain an ambiguous character. */
function hasAmbiguousCharacter(bytes: Buffer): boolean {
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

/** Escapes of control characters and punctuation are frequent and harmless. */
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

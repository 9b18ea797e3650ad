/** Tells by raw bytes that a log cannot hold what a query asks for. Never wrong when it says no. */
import type { ParsedQuery, QueryNode, QueryTerm } from '../../archive/text/query.ts'
import { hasAmbiguousCharacter } from './odd.ts'

/** Given the pieces of a file, each beginning with the end of the one before, until it answers. */
export interface RawByteTest {
  /** True: it may be there, no need to look further. */
  piece(bytes: Buffer): boolean
  /** After the last piece. */
  mayContain(): boolean
}

/** How far pieces must overlap. */
export const PIECE_OVERLAP_BYTES = 256

/** Nothing when bytes cannot tell: then every log has to be read. */
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

/** Where an identifier may be cut, and runs of characters that have no case and no other form. */
const NEEDLE_PARTS = /[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3]+/g

/** Bytes that must stand there, but for the case of letters. */
interface Needle {
  readonly bytes: Uint8Array
  /** By two bytes in a row: how far on the needle may end next where they stand; 0 where it may end here. */
  readonly steps: Uint8Array
}

/** The longest piece that must stand in the bytes as it is. */
function needleOf({ text }: QueryTerm): Needle | undefined {
  const pieces = text.normalize('NFKC').match(NEEDLE_PARTS) ?? []
  let longest = ''
  for (const piece of pieces) if (Buffer.byteLength(piece) > Buffer.byteLength(longest)) longest = piece
  const bytes = Buffer.from(longest.toLowerCase())
  return bytes.length === 0 || bytes.length > PIECE_OVERLAP_BYTES / 2 ? undefined : makeNeedle(bytes)
}

/** A needle of one byte ends in no two: it may end anywhere. */
function makeNeedle(bytes: Buffer): Needle {
  const steps = new Uint8Array(1 << 16).fill(Math.max(0, bytes.length - 1))
  for (let at = 1; at < bytes.length; at++)
    for (const first of bothCases(bytes[at - 1] ?? 0))
      for (const second of bothCases(bytes[at] ?? 0)) steps[(first << 8) | second] = bytes.length - 1 - at
  return { bytes, steps }
}

const bothCases = (byte: number): readonly number[] => (byte >= 0x61 && byte <= 0x7a ? [byte, byte - 0x20] : [byte])

/** By the way of Boyer, Moore and Horspool, with pairs: the longer the needle, the fewer bytes are looked at. */
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

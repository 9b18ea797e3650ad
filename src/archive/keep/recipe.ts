/** Cuts a row into pieces and a frame, and puts it together again. */
import type { Capture, Stretch } from '../../model/capture.ts'

/** A piece of a row and how many bytes of the frame stand before it. */
export interface Part {
  readonly gap: number
  readonly piece: number
  readonly isEntry: boolean
}

export interface Cut extends Stretch {
  readonly isEntry: boolean
}

/** Entries and repeats in the order of their bytes. */
export function cutsOf(capture: Capture): readonly Cut[] {
  const cuts: Cut[] = []
  const { entries, repeats } = capture
  let at = 0
  for (let e = 0, r = 0; e < entries.length || r < repeats.length; ) {
    const entry = entries[e]
    const repeat = repeats[r]
    const isEntry = entry !== undefined && (repeat === undefined || entry.start <= repeat.start)
    const next = isEntry ? entry : repeat
    if (next === undefined || next.start < at || next.end < next.start || next.end > capture.bytes.length)
      throw new Error('the stretches of a capture overlap, or are out of order')
    cuts.push({ start: next.start, end: next.end, isEntry })
    at = next.end
    if (isEntry) e++
    else r++
  }
  return cuts
}

/** What lies between the cuts. */
export function frameOf(bytes: Uint8Array, cuts: readonly Stretch[]): Buffer {
  const between: Uint8Array[] = []
  let at = 0
  for (const cut of cuts) {
    between.push(bytes.subarray(at, cut.start))
    at = cut.end
  }
  between.push(bytes.subarray(at))
  return Buffer.concat(between)
}

/** Entries of the conversation that the row itself no longer holds, for a row that shows them all. */
export interface Restored {
  readonly before: readonly Uint8Array[]
  readonly after: readonly Uint8Array[]
}

const COMMA = Buffer.from(',')

export function assemble(
  parts: readonly Part[],
  frame: Uint8Array,
  pieceOf: (piece: number) => Uint8Array,
  restored: Restored = { before: [], after: [] },
): Buffer {
  const chunks: Uint8Array[] = []
  const first = parts.findIndex((part) => part.isEntry)
  const last = parts.findLastIndex((part) => part.isEntry)
  let at = 0
  parts.forEach((part, index) => {
    chunks.push(frame.subarray(at, at + part.gap))
    at += part.gap
    if (index === first) for (const bytes of restored.before) chunks.push(bytes, COMMA)
    chunks.push(pieceOf(part.piece))
    if (index === last) for (const bytes of restored.after) chunks.push(COMMA, bytes)
  })
  chunks.push(frame.subarray(at))
  return Buffer.concat(chunks)
}

/** Small numbers, and the same ones for pieces that follow each other again: what a compressor likes. */
export function encodeRecipe(parts: readonly Part[]): Buffer {
  const bytes: number[] = []
  let expected = 0
  for (const { gap, piece, isEntry } of parts) {
    writeNumber(bytes, gap * 2 + (isEntry ? 1 : 0))
    const away = piece - expected
    writeNumber(bytes, away < 0 ? -2 * away - 1 : 2 * away)
    expected = piece + 1
  }
  return Buffer.from(bytes)
}

export function decodeRecipe(bytes: Uint8Array): readonly Part[] {
  const parts: Part[] = []
  const reader = { bytes, at: 0 }
  let expected = 0
  while (reader.at < bytes.length) {
    const head = readNumber(reader)
    const away = readNumber(reader)
    const piece = expected + (away % 2 === 1 ? -(away + 1) / 2 : away / 2)
    parts.push({ gap: Math.floor(head / 2), piece, isEntry: head % 2 === 1 })
    expected = piece + 1
  }
  return parts
}

/** Seven bits to a byte, the lowest first. */
function writeNumber(bytes: number[], value: number): void {
  let left = value
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  bytes.push(left)
}

function readNumber(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0
    value += (byte % 128) * scale
    if (byte < 128) return value
  }
}

/** Cuts a row into pieces and a frame, and puts it together again. */
import type { ByteSpan, Capture } from '../model/capture.ts'

/** A piece of a row and how many bytes of the frame stand before it. */
export interface RecipePart {
  readonly gap: number
  readonly piece: number
  readonly isEntry: boolean
}

export interface RowPiece extends ByteSpan {
  readonly isEntry: boolean
}

/** Entries and repeats in the order of their bytes. */
export function cutRow(capture: Capture): readonly RowPiece[] {
  const cuts: RowPiece[] = []
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
export function frameBetween(bytes: Uint8Array, cuts: readonly ByteSpan[]): Buffer {
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
export interface MissingEntries {
  readonly before: readonly Uint8Array[]
  readonly after: readonly Uint8Array[]
}

const COMMA = Buffer.from(',')

export function assembleRow(
  parts: readonly RecipePart[],
  frame: Uint8Array,
  pieceOf: (piece: number) => Uint8Array,
  missing: MissingEntries = { before: [], after: [] },
): Buffer {
  const chunks: Uint8Array[] = []
  const first = parts.findIndex((part) => part.isEntry)
  const last = parts.findLastIndex((part) => part.isEntry)
  let at = 0
  parts.forEach((part, index) => {
    chunks.push(frame.subarray(at, at + part.gap))
    at += part.gap
    if (index === first) for (const bytes of missing.before) chunks.push(bytes, COMMA)
    chunks.push(pieceOf(part.piece))
    if (index === last) for (const bytes of missing.after) chunks.push(COMMA, bytes)
  })
  chunks.push(frame.subarray(at))
  return Buffer.concat(chunks)
}

/** Small numbers, and the same ones for pieces that follow each other again: what a compressor likes. */
export function encodeRecipe(parts: readonly RecipePart[]): Buffer {
  const bytes: number[] = []
  let expected = 0
  for (const { gap, piece, isEntry } of parts) {
    writeVarint(bytes, gap * 2 + (isEntry ? 1 : 0))
    const distance = piece - expected
    writeVarint(bytes, distance < 0 ? -2 * distance - 1 : 2 * distance)
    expected = piece + 1
  }
  return Buffer.from(bytes)
}

export function decodeRecipe(bytes: Uint8Array): readonly RecipePart[] {
  const parts: RecipePart[] = []
  const reader = { bytes, at: 0 }
  let expected = 0
  while (reader.at < bytes.length) {
    const head = readVarint(reader)
    const distance = readVarint(reader)
    const piece = expected + (distance % 2 === 1 ? -(distance + 1) / 2 : distance / 2)
    parts.push({ gap: Math.floor(head / 2), piece, isEntry: head % 2 === 1 })
    expected = piece + 1
  }
  return parts
}

/** Seven bits to a byte, the lowest first. */
function writeVarint(bytes: number[], value: number): void {
  let remaining = value
  for (; remaining >= 128; remaining = Math.floor(remaining / 128)) bytes.push((remaining % 128) + 128)
  bytes.push(remaining)
}

function readVarint(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.bytes[reader.at++] ?? 0
    value += (byte % 128) * scale
    if (byte < 128) return value
  }
}

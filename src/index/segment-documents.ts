/** What a segment knows of its documents besides their words, packed into few bytes. */
import { ByteBuffer } from '../lib/byte-buffer.ts'
import { addNumber, NumberReader, signed, unsigned } from '../lib/packed-numbers.ts'
import { ERROR, IMAGE } from './row-encoding.ts'

/** One value for each document. The documents of a message are adjacent. */
export interface SegmentDocuments {
  /** The message. Row 0 marks a document without one. */
  readonly rows: Float64Array
  readonly sessions: Uint32Array
  /** The id of the tool's name, or 0. */
  readonly tools: Uint32Array
  /** See `traitsOf`. */
  readonly traits: Uint8Array
  /** Numbers of words, as `lengthCode` stores them. */
  readonly lengths: Uint8Array
}

export const newDocuments = (count: number): SegmentDocuments => ({
  rows: new Float64Array(count),
  sessions: new Uint32Array(count),
  tools: new Uint32Array(count),
  traits: new Uint8Array(count),
  lengths: new Uint8Array(count),
})

/**
 * What filters of a search need to know of a document, in one byte: the scope (an index into `TEXT_SCOPES`) and, from
 * the kind of its message, the role and whether it has an error or an image.
 */
export const traitsOf = (scope: number, kind: number): number =>
  scope | ((kind & 7) << 3) | (kind & ERROR ? ERROR_TRAIT : 0) | (kind & IMAGE ? IMAGE_TRAIT : 0)

/** The scope of a document without words. Messages without text have one, so that filters find them. */
export const NO_SCOPE = 7
export const scopeOfTraits = (traits: number): number => traits & 7
/** Index into `ROLES`. */
export const roleOfTraits = (traits: number): number => (traits >> 3) & 7
export const ERROR_TRAIT = 1 << 6
export const IMAGE_TRAIT = 1 << 7

/** Another document of the message before. */
const SAME_MESSAGE = 0
const NO_MESSAGE = 1
/** Higher values are the distance from the message before and whether the session differs, each `<< 1`. */
const FIRST_DISTANCE = 2

/**
 * Numbers of 7 bits per byte for each document, then all traits, then all lengths. A message has the distance of its
 * row from the previous one, its tool and, if it is another than before, its session.
 */
export function packDocuments({ rows, sessions, tools, traits, lengths }: SegmentDocuments, low: number): Uint8Array {
  const packed = new ByteBuffer()
  let row = low
  let session = 0
  let isMessage = false
  for (let at = 0; at < rows.length; at++) {
    const here = rows[at] ?? 0
    if (here === 0) addNumber(packed, NO_MESSAGE)
    else if (isMessage && here === row) addNumber(packed, SAME_MESSAGE)
    else {
      const ofSession = sessions[at] ?? 0
      const isOther = ofSession !== session
      addNumber(packed, signed(here - row) * 2 + (isOther ? 1 : 0) + FIRST_DISTANCE)
      addNumber(packed, tools[at] ?? 0)
      if (isOther) addNumber(packed, signed(ofSession - session))
      row = here
      session = ofSession
      isMessage = true
    }
  }
  packed.add(traits)
  packed.add(lengths)
  return packed.take()
}

export function unpackDocuments(packed: Uint8Array, count: number, low: number): SegmentDocuments {
  const documents = newDocuments(count)
  const { rows, sessions, tools } = documents
  const reader = new NumberReader(packed)
  let row = low
  let session = 0
  let tool = 0
  for (let at = 0; at < count; at++) {
    const code = reader.next()
    if (code === NO_MESSAGE) continue
    if (code !== SAME_MESSAGE) {
      const distance = code - FIRST_DISTANCE
      row += unsigned(Math.floor(distance / 2))
      tool = reader.next()
      if (distance % 2 === 1) session += unsigned(reader.next())
    }
    rows[at] = row
    sessions[at] = session
    tools[at] = tool
  }
  if (packed.length !== reader.at + count * 2) throw new RangeError('the text index is damaged')
  documents.traits.set(packed.subarray(reader.at, reader.at + count))
  documents.lengths.set(packed.subarray(reader.at + count))
  return documents
}

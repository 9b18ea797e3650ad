/**
 * Cuts the bytes of a file into pieces at places that depend on the content alone. Files that share a long part, such as
 * a log and its fork, or a document before and after a change, therefore share pieces.
 */
import { checksum } from '../lib/hash.ts'

/** Larger pieces compress better; smaller ones cost less when a file grows, because its last piece is stored again. */
const MIN_PIECE_BYTES = 1 << 18
export const MAX_PIECE_BYTES = 1 << 20
/** One line of this many ends a piece that is long enough. */
const LINES_PER_CUT = 128
/** Number of bytes before a newline that decide whether a piece ends there. */
const DECIDING_BYTES = 64
const NEWLINE = 10

/**
 * Length of the first piece. Undefined if it does not end within these bytes: more must follow.
 * @param bytes at least MAX_PIECE_BYTES of them always have an end
 */
export function firstPieceLength(bytes: Buffer): number | undefined {
  const limit = Math.min(bytes.length, MAX_PIECE_BYTES)
  for (let end = bytes.indexOf(NEWLINE, MIN_PIECE_BYTES - 1); end >= 0 && end < limit; ) {
    if (checksum(bytes.subarray(end - DECIDING_BYTES, end)) % LINES_PER_CUT === 0) return end + 1
    end = bytes.indexOf(NEWLINE, end + 1)
  }
  return bytes.length >= MAX_PIECE_BYTES ? MAX_PIECE_BYTES : undefined
}

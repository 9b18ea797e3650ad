/** Reads a text once: finds triggers, runs of encoded data, and signs that encodings need. */
import { CLASS_BITS, CLASS_MASK, CLASSES, OTHER_CLASS, type TriggerTable } from './trigger-table.ts'

/** What a text contains anywhere. */
export const HAS = {
  backslash: 1,
  percent: 2,
  ampersand: 4,
  control: 8,
  joint: 16,
  beyondAscii: 32,
  newline: 64,
} as const

const FLAGS = new Uint8Array(128)
for (let code = 0; code < 32; code++) FLAGS[code] = HAS.control
FLAGS[9] = FLAGS[13] = 0
FLAGS[10] = HAS.newline
FLAGS[92] = HAS.backslash
FLAGS[37] = HAS.percent
FLAGS[38] = HAS.ampersand
FLAGS[43] = HAS.joint

/** Digits of base64, of its form for addresses, and hexadecimal ones. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-'
const IS_DIGIT = 1 << CLASS_BITS
const FLAG_SHIFT = CLASS_BITS + 1
/** Of each character its class, whether it is a digit, and its flags: one lookup instead of three. */
const INFO = new Uint16Array(128)
for (let code = 0; code < 128; code++)
  INFO[code] =
    (CLASSES[code] ?? OTHER_CLASS) |
    (DIGITS.includes(String.fromCharCode(code)) ? IS_DIGIT : (FLAGS[code] ?? 0) << FLAG_SHIFT)
const OTHER_INFO = OTHER_CLASS | (HAS.beyondAscii << FLAG_SHIFT)

export interface TextRun {
  readonly start: number
  readonly end: number
}

export interface ScanResult {
  /** Sum of `HAS`. */
  readonly flags: number
  /** At least `minRun` digits without anything between them. */
  readonly runs: readonly TextRun[]
}

export function scanText<T>(
  text: string,
  table: TriggerTable<T>,
  minRun: number,
  onHit: (values: readonly T[], at: number) => void,
): ScanResult {
  const { bits, buckets, values } = table
  const runs: TextRun[] = []
  const { length } = text
  let flags = 0
  let hash = 0
  let start = 0
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at)
    const info = code < 128 ? (INFO[code] ?? OTHER_INFO) : OTHER_INFO
    hash = ((hash << CLASS_BITS) | (info & OTHER_CLASS)) & CLASS_MASK
    if ((info & IS_DIGIT) === 0) {
      flags |= info >> FLAG_SHIFT
      if (at - start >= minRun) runs.push({ start, end: at })
      start = at + 1
    }
    if (((bits[hash >> 3] ?? 0) & (1 << (hash & 7))) !== 0 && at >= 2) onHit(values[buckets[hash] ?? 0] ?? [], at - 2)
  }
  if (length - start >= minRun) runs.push({ start, end: length })
  // A plus sign is a digit of base64, too.
  return { flags: text.includes('+') || text.includes(' . ') ? flags | HAS.joint : flags, runs }
}

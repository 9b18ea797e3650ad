/** Reads a text once: finds triggers, runs of encoded data, and signs that encodings need. */
import { CHUNK, charactersOf } from './characters.ts'
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
  /** Characters beyond ASCII that take no space. */
  invisible: 128,
  /** Kana, Chinese characters, Hangul and Cyrillic. */
  eastern: 256,
  fullWidth: 512,
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

/** Flags of each character beyond ASCII, in blocks of 16. Where a block has others, too, the flag says "perhaps". */
const BLOCKS = new Uint16Array(4096)
for (const [flag, ranges] of [
  [
    HAS.invisible,
    [
      ...[0xa0, 0x340, 0x610, 0x1150, 0x1160, 0x17b0, 0x1800, 0x2000, 0x2020, 0x2060, 0x3160],
      ...[0xfe00, 0xfef0, 0xffa0, 0xfff0],
    ],
  ],
  [HAS.fullWidth, [0xff00, 0xff10, 0xff20, 0xff30, 0xff40, 0xff50]],
] as const)
  for (const at of ranges) BLOCKS[at >> 4] = (BLOCKS[at >> 4] ?? 0) | flag
for (const [first, last] of [
  [0x400, 0x44f],
  [0x3040, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7af],
  [0xff60, 0xff9f],
] as const)
  for (let at = first; at <= last; at += 16) BLOCKS[at >> 4] = (BLOCKS[at >> 4] ?? 0) | HAS.eastern
// Variation selectors are pairs of surrogates.
BLOCKS[0xdb40 >> 4] = HAS.invisible

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
  const { bits } = table
  const runs: TextRun[] = []
  const { length } = text
  let flags = 0
  let hash = 0
  let start = 0
  for (let base = 0; base < length; base += CHUNK) {
    const codes = charactersOf(text, base)
    const end = Math.min(CHUNK, length - base)
    for (let at = 0; at < end; at++) {
      const info = infoOf(codes[at] ?? 0)
      hash = ((hash << CLASS_BITS) | (info & OTHER_CLASS)) & CLASS_MASK
      if ((info & IS_DIGIT) === 0) {
        flags |= info >> FLAG_SHIFT
        if (info === OTHER_INFO) flags |= BLOCKS[(codes[at] ?? 0) >> 4] ?? 0
        if (base + at - start >= minRun) runs.push({ start, end: base + at })
        start = base + at + 1
      }
      if (((bits[hash >> 3] ?? 0) & (1 << (hash & 7))) === 0) continue
      const values = table.at(hash, infoOf(codes[at + 1] ?? 0) & OTHER_CLASS, infoOf(codes[at + 2] ?? 0) & OTHER_CLASS)
      if (values !== undefined && base + at >= 2) onHit(values, base + at - 2)
    }
  }
  if (length - start >= minRun) runs.push({ start, end: length })
  // A plus sign is a digit of base64, too.
  return {
    flags: text.includes('+') || text.includes(' . ') || text.includes(' .\n') ? flags | HAS.joint : flags,
    runs,
  }
}

const infoOf = (code: number): number => (code < 128 ? (INFO[code] ?? OTHER_INFO) : OTHER_INFO)

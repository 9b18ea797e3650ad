/** What runs of base64 and hexadecimal digits encode. */
import type { TextRun } from './scan-text.ts'

export interface EncodedRun {
  readonly start: number
  readonly end: number
  /** Undefined if the bytes are not text. */
  readonly decoded: string | undefined
}

/** Digits; fewer encode too little. */
export const MIN_RUN = 20
const HEX = /^(?:[0-9a-f]{2}){16,}$|^(?:[0-9A-F]{2}){16,}$/
const MAX_DECODED = 2_000_000

/** @param runs in order */
export function decodeRuns(text: string, runs: readonly TextRun[]): readonly EncodedRun[] {
  const decodedRuns: EncodedRun[] = []
  let done = 0
  for (const { start, end: lineEnd } of runs) {
    if (start < done) continue
    const end = endOfRun(text, lineEnd)
    const run = text.slice(start, end)
    const decoded = decode(run) ?? textWithin(run)
    if (decoded !== undefined || isBinaryRun(run)) decodedRuns.push({ start, end, decoded })
    done = end
  }
  return decodedRuns
}

/** Lines of base64 belong together. */
const NEXT_LINE = /(?:\\n|\r?\n)[A-Za-z0-9+/_-]{20,}|(?:\\n|\r?\n)[A-Za-z0-9+/_-]{1,76}(?==|[\s"']|$)|={1,2}/y

function endOfRun(text: string, at: number): number {
  let end = at
  while (true) {
    NEXT_LINE.lastIndex = end
    const next = NEXT_LINE.exec(text)?.[0]
    if (next === undefined) return end
    end += next.length
    if (next.startsWith('=') || next.length < MIN_RUN) return end
  }
}

/** Shorter runs may be hashes and ids; longer ones carry bytes that cannot be examined. */
const MIN_BINARY = 600

function decode(run: string): string | undefined {
  const digits = run.startsWith('0x') ? run.slice(2) : run
  if (HEX.test(digits)) return toText(Buffer.from(digits, 'hex'))
  if (/^[a-z_/-]+$|^[A-Z_/-]+$|^[A-Za-z]+$/.test(run) && run.length < 40) return undefined
  // A look at the first bytes spares most runs the rest.
  const head = Buffer.from(run.slice(0, 16), 'base64')
  const isWide = isWideText(head)
  if (!isWide && !isLikelyText(head)) return undefined
  const bytes = Buffer.from(run.slice(0, MAX_DECODED).replace(/\\n|\s/g, ''), 'base64')
  return isWide ? toText(Buffer.from(bytes.toString('utf16le'))) : toText(bytes)
}

/** Below this, bytes that are not text have no room for a secret. */
const MIN_MIXED = 40
const PRINTABLE = /[\x20-\x7e]{16,}/g

/** The text in short binary content, such as a comment in a small file. */
function textWithin(run: string): string | undefined {
  if (run.length < MIN_MIXED || isBinaryRun(run) || HEX.test(run)) return undefined
  return Buffer.from(run.replace(/\\n|\s/g, ''), 'base64')
    .toString('latin1')
    .match(PRINTABLE)
    ?.join('\n')
}

/** UTF-16, as PowerShell encodes commands: every second byte of English text is 0. */
function isWideText(bytes: Uint8Array): boolean {
  if (bytes.length < 8) return false
  for (let at = 0; at + 1 < bytes.length; at += 2) if (bytes[at] === 0 || bytes[at + 1] !== 0) return false
  return true
}

function isLikelyText(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte < 9 || byte === 127 || (byte > 13 && byte < 32 && byte !== 27)) return false
  return bytes.length > 0
}

function toText(bytes: Buffer): string | undefined {
  if (!isLikelyText(bytes)) return undefined
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? undefined : text
}

/** Whether a long run is a path, a name or a chain of words rather than bytes. */
export const isBinaryRun = (run: string): boolean =>
  run.length >= MIN_BINARY &&
  /\d/.test(run) &&
  /[A-Z]/.test(run) &&
  /[a-z]/.test(run) &&
  new Set(run.slice(0, MIN_BINARY)).size >= 20

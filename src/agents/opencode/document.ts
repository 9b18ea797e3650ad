/** A session as one JSON document: what `opencode export` writes, and what we back up of rows and files. */
import { findElementRanges, findMemberRanges, type MemberRange } from '../../lib/json/scanner.ts'
import type { SessionTexts } from './session-texts.ts'

const DOCUMENT_HEAD = /^\uFEFF?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses/

export const startsLikeDocument = (head: Uint8Array): boolean =>
  DOCUMENT_HEAD.test(Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, HEAD_BYTES)).toString('utf8'))

const HEAD_BYTES = 512

interface DocumentRanges {
  readonly info: MemberRange
  readonly messages: readonly { readonly start: number; readonly end: number }[]
  readonly isComplete: boolean
}

/** Undefined for other bytes. */
export function documentRanges(bytes: Buffer): DocumentRanges | undefined {
  const start = bytes.indexOf(OPEN_OBJECT)
  const { ranges, isComplete, end } = findMemberRanges(bytes, start)
  const info = ranges.find(({ key }) => key === 'info')
  if (start < 0 || !info) return undefined
  const list = ranges.find(({ key }) => key === 'messages')
  // A document that is cut short ends within the list.
  const from = list?.start ?? (isComplete ? -1 : bytes.indexOf(OPEN_LIST, end))
  const messages = from < 0 ? [] : findElementRanges(bytes, from).ranges
  return { info, messages, isComplete: isComplete && (list === undefined || findsEnd(bytes, list)) }
}

const OPEN_OBJECT = 123
const OPEN_LIST = 91

const findsEnd = (bytes: Buffer, { start }: MemberRange): boolean => findElementRanges(bytes, start).isComplete

export function documentTexts(bytes: Buffer): SessionTexts {
  const found = documentRanges(bytes)
  const slice = ({ start, end }: { readonly start: number; readonly end: number }): Buffer => bytes.subarray(start, end)
  return {
    header: () => ({
      ok: true,
      value: found && Buffer.concat([HEADER_BEGIN, slice(found.info), HEADER_END]),
    }),
    *messages() {
      for (const range of found?.messages ?? []) yield slice(range)
      return found?.isComplete === false ? 'cut_short' : undefined
    },
    messageAt(number) {
      const range = found?.messages[number - 1]
      return { ok: true, value: range && slice(range) }
    },
  }
}

const HEADER_BEGIN = Buffer.from('{"info":')
const HEADER_END = Buffer.from('}')

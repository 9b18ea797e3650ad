/** Prepares a conversation for backup: its bytes, and the ranges in them that the next version is likely to repeat. */

import { type EntryList, isParsedEntry, parseEntryAt } from '../../conversation/to-messages/parse-entry.ts'
import { sha256 } from '../../lib/hash.ts'
import { type ByteRange, findElementRanges, findMemberRanges, type MemberRange } from '../../lib/json/scanner.ts'
import type { CapturedEntry } from '../../model/capture.ts'
import type { Issue } from '../../model/issue.ts'
import type { CaptureResult, Source } from '../agent.ts'
import { isSourceRow, readRow } from './row.ts'
import { conversationHeader } from './state-details.ts'
import { openDocument } from './state-document.ts'
import { entryIdentity } from './to-message.ts'

export async function capture(source: Source): Promise<CaptureResult> {
  const row = readRow(source)
  if (!isSourceRow(row)) return { kind: 'issue', issue: row.issue }
  const { bytes } = row
  const start = bytes.findIndex((byte) => byte > 32)
  const state = findMemberRanges(bytes, start)
  const history = memberOf(state.ranges, 'history')
  const document = state.isComplete && history ? openDocument(bytes) : undefined
  if (!document || !history) return { kind: 'unreadable', bytes, issue: unreadableIssue(source, row.key) }
  const { native_id } = conversationHeader(source, row, document)
  return {
    kind: 'conversation',
    capture: {
      agent: source.agent,
      native_id,
      bytes,
      entries: entriesOf(bytes, findElementRanges(bytes, history.start).ranges, document.history),
      repeats: repeatedRanges(bytes, state.ranges).sort((a, b) => a.start - b.start),
    },
  }
}

/** Computed on demand, because bytes that are already backed up do not need it. */
const entriesOf = (bytes: Buffer, ranges: readonly ByteRange[], list: EntryList): readonly CapturedEntry[] =>
  ranges.map(({ start, end }, index) => ({
    start,
    end,
    identity() {
      const entry = parseEntryAt(list, index)
      return isParsedEntry(entry) ? entryIdentity(entry) : sha256(bytes.subarray(start, end))
    },
  }))

/** Copies of the history in checkpoints and tangents, and the transcript, which only grows. */
function repeatedRanges(bytes: Buffer, members: readonly MemberRange[]): ByteRange[] {
  const manager = memberOf(members, 'checkpoint_manager')
  const checkpoints = manager && memberOf(findMemberRanges(bytes, manager.start).ranges, 'checkpoints')
  const snapshots = (checkpoints ? findElementRanges(bytes, checkpoints.start).ranges : []).flatMap(({ start }) =>
    elementRanges(bytes, findMemberRanges(bytes, start).ranges, 'history_snapshot'),
  )
  const tangent = memberOf(members, 'tangent_state')
  const inside = tangent ? findMemberRanges(bytes, tangent.start).ranges : []
  return [
    ...snapshots,
    ...elementRanges(bytes, inside, 'main_history'),
    ...lineRuns(bytes, elementRanges(bytes, inside, 'main_transcript')),
    ...lineRuns(bytes, elementRanges(bytes, members, 'transcript')),
  ]
}

function elementRanges(bytes: Buffer, members: readonly MemberRange[], key: string): readonly ByteRange[] {
  const member = memberOf(members, key)
  return member ? findElementRanges(bytes, member.start).ranges : []
}

/**
 * Lines are too short to back up individually, so they are grouped into runs. The bytes of a line decide whether it
 * ends a run, so that runs stay the same when lines are appended, or dropped at the front.
 */
function lineRuns(bytes: Buffer, lines: readonly ByteRange[]): readonly ByteRange[] {
  const found: ByteRange[] = []
  let start: number | undefined
  for (const line of lines) {
    start ??= line.start
    if (!endsRun(bytes, line)) continue
    found.push({ start, end: line.end })
    start = undefined
  }
  return found
}

const endsRun = (bytes: Buffer, { start, end }: ByteRange): boolean =>
  end - start > 64 && (bytes[end - 2] as number) % 8 === (bytes[start + 9] as number) % 8

const memberOf = (members: readonly MemberRange[], key: string): MemberRange | undefined =>
  members.findLast((one) => one.key === key)

const unreadableIssue = ({ path, shown }: Source, key: string | undefined): Issue => ({
  code: 'bad_json',
  reason: 'not a conversation of Amazon Q or Kiro',
  path: shown ?? path,
  ...(key !== undefined && { key }),
})

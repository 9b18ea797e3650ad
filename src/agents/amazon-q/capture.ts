/** A conversation to be kept: its bytes, and where in them the stretches lie that the next version will repeat. */

import { type EntryList, entryAt, isRead } from '../../conversation/told/entry.ts'
import { sha256 } from '../../lib/hash.ts'
import { elementsAt, type Member, membersAt, type Range } from '../../lib/json/ranges.ts'
import type { CapturedEntry } from '../../model/capture.ts'
import type { Issue } from '../../model/issue.ts'
import type { Captured, Source } from '../agent.ts'
import { identityOf } from './entry/identity.ts'
import { headerOf } from './header.ts'
import { openDocument } from './row/document.ts'
import { rowOf } from './row/find-row.ts'
import { isRow } from './row/row.ts'

export async function capture(source: Source): Promise<Captured> {
  const row = rowOf(source)
  if (!isRow(row)) return { kind: 'issue', issue: row.issue }
  const { bytes } = row
  const start = bytes.findIndex((byte) => byte > 32)
  const state = membersAt(bytes, start)
  const history = memberOf(state.found, 'history')
  const document = state.whole && history ? openDocument(bytes) : undefined
  if (!document || !history) return { kind: 'unreadable', bytes, issue: unreadable(source, row.key) }
  const { native_id } = headerOf(source, row, document)
  return {
    kind: 'conversation',
    capture: {
      agent: source.agent,
      native_id,
      bytes,
      entries: entriesOf(bytes, elementsAt(bytes, history.start).found, document.history),
      repeats: repeatsIn(bytes, state.found).sort((a, b) => a.start - b.start),
    },
  }
}

/** Asked for seldom: only where the bytes are not those that were kept. */
const entriesOf = (bytes: Buffer, ranges: readonly Range[], list: EntryList): readonly CapturedEntry[] =>
  ranges.map(({ start, end }, index) => ({
    start,
    end,
    identity() {
      const entry = entryAt(list, index)
      return isRead(entry) ? identityOf(entry) : sha256(bytes.subarray(start, end))
    },
  }))

/** Copies of the history inside checkpoints and tangents, and the transcript, which only grows. */
function repeatsIn(bytes: Buffer, members: readonly Member[]): Range[] {
  const manager = memberOf(members, 'checkpoint_manager')
  const checkpoints = manager && memberOf(membersAt(bytes, manager.start).found, 'checkpoints')
  const snapshots = (checkpoints ? elementsAt(bytes, checkpoints.start).found : []).flatMap(({ start }) =>
    elementsIn(bytes, membersAt(bytes, start).found, 'history_snapshot'),
  )
  const tangent = memberOf(members, 'tangent_state')
  const inside = tangent ? membersAt(bytes, tangent.start).found : []
  return [
    ...snapshots,
    ...elementsIn(bytes, inside, 'main_history'),
    ...runs(bytes, elementsIn(bytes, inside, 'main_transcript')),
    ...runs(bytes, elementsIn(bytes, members, 'transcript')),
  ]
}

function elementsIn(bytes: Buffer, members: readonly Member[], key: string): readonly Range[] {
  const member = memberOf(members, key)
  return member ? elementsAt(bytes, member.start).found : []
}

/**
 * Lines are too short to be kept one by one. They are taken together up to a line whose own bytes say that a run ends
 * there, so that the runs stay the same when lines are added at the end or dropped at the front.
 */
function runs(bytes: Buffer, lines: readonly Range[]): readonly Range[] {
  const found: Range[] = []
  let start: number | undefined
  for (const line of lines) {
    start ??= line.start
    if (!endsRun(bytes, line)) continue
    found.push({ start, end: line.end })
    start = undefined
  }
  return found
}

const endsRun = (bytes: Buffer, { start, end }: Range): boolean =>
  end - start > 64 && (bytes[end - 2] as number) % 8 === (bytes[start + 9] as number) % 8

const memberOf = (members: readonly Member[], key: string): Member | undefined =>
  members.findLast((one) => one.key === key)

const unreadable = ({ path, shown }: Source, key: string | undefined): Issue => ({
  code: 'bad_json',
  reason: 'not a conversation of Amazon Q or Kiro',
  path: shown ?? path,
  ...(key !== undefined && { key }),
})

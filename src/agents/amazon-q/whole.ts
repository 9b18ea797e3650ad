/** The messages that belong to a conversation as a whole: its state, and the summary of what was compacted. */

import type { Draft } from '../../conversation/told/draft.ts'
import { checksum } from '../../lib/hash.ts'
import type { Instant } from '../../model/ids.ts'
import type { Extension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { PrivacyOptions, Read } from '../agent.ts'
import { stateExtension, withoutRecord } from './entry/extension.ts'
import type { QLocator } from './entry/locator.ts'
import { type Origin, place } from './entry/place.ts'
import type { Document } from './row/document.ts'
import type { Row } from './row/row.ts'
import { stateDraft, summaryOf } from './state.ts'

/** They come last, because a state tells them last, but are numbered before all entries. */
export function wholeReads(
  document: Document,
  row: Row,
  origin: Origin,
  session: Session,
  { includeSource }: PrivacyOptions,
): Read[] {
  const reads: Read[] = []
  const add = (draft: Draft, part: number, at: Instant, inferred: boolean, extension?: Extension): void => {
    const message = place(draft, { entry: 0, part, time: { at, inferred }, marks: {} }, origin, extension)
    const locator: QLocator = {
      entry: 0,
      part,
      check: checkOfState(row, document),
      time: at,
      ...(inferred && { inferred: true as const }),
    }
    reads.push({ kind: 'message', message, locator })
  }
  const record = includeSource ? stateExtension(row.bytes, document) : undefined
  add(stateDraft(document, { ...row.columns }), 1, session.started_at, false, record)
  const summary = summaryOf(document)
  const recordless = includeSource ? withoutRecord(document.fields) : undefined
  if (summary) add(summary.draft, 2, summary.at ?? session.started_at, summary.at === undefined, recordless)
  return reads
}

/** Whoever writes the state writes all of it: another state has another length, or other entries. */
const checkOfState = ({ bytes }: Row, { history }: Document): number =>
  checksum(
    Buffer.from(`${bytes.length}|${history.length}|${bytes.length > EDGE ? checksum(bytes.subarray(-EDGE)) : ''}`),
  )

const EDGE = 2048

/** The messages that belong to a conversation as a whole: its state, and the summary of what was compacted. */

import type { EntryDraft } from '../../conversation/to-messages/entry-draft.ts'
import { checksum } from '../../lib/hash.ts'
import type { Instant } from '../../model/ids.ts'
import type { SourceExtension } from '../../model/replay/extension.ts'
import type { Session } from '../../model/session.ts'
import type { PrivacyOptions, ReadItem } from '../agent.ts'
import { recordlessExtension, stateExtension } from './entry/entry-extension.ts'
import type { QLocator } from './entry/locator.ts'
import { type ConversationOrigin, toMessage } from './entry/to-message.ts'
import type { SourceRow } from './row/source-row.ts'
import type { StateDocument } from './row/state-document.ts'
import { stateDraft, summaryDraft } from './state-details.ts'

/** They come last, because a state tells them last, but are numbered before all entries. */
export function stateMessages(
  document: StateDocument,
  row: SourceRow,
  origin: ConversationOrigin,
  session: Session,
  { includeSource }: PrivacyOptions,
): ReadItem[] {
  const reads: ReadItem[] = []
  const add = (draft: EntryDraft, part: number, at: Instant, inferred: boolean, extension?: SourceExtension): void => {
    const message = toMessage(draft, { entry: 0, part, time: { at, inferred }, marks: {} }, origin, extension)
    const locator: QLocator = {
      entry: 0,
      part,
      check: stateChecksum(row, document),
      time: at,
      ...(inferred && { inferred: true as const }),
    }
    reads.push({ kind: 'message', message, locator })
  }
  const record = includeSource ? stateExtension(row.bytes, document) : undefined
  add(stateDraft(document, { ...row.columns }), 1, session.started_at, false, record)
  const summary = summaryDraft(document)
  const recordless = includeSource ? recordlessExtension(document.fields) : undefined
  if (summary) add(summary.draft, 2, summary.at ?? session.started_at, summary.at === undefined, recordless)
  return reads
}

/** Whoever writes the state writes all of it: another state has another length, or other entries. */
const stateChecksum = ({ bytes }: SourceRow, { history }: StateDocument): number =>
  checksum(
    Buffer.from(
      `${bytes.length}|${history.length}|${bytes.length > TAIL_BYTES ? checksum(bytes.subarray(-TAIL_BYTES)) : ''}`,
    ),
  )

const TAIL_BYTES = 2048

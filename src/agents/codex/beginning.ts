/** The beginning of a log that refers to another one for it: of a fork, or of a thread that was reverted. */

import { fieldsOf } from '../../lib/unknown-values.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { extensionOf } from '../../model/replay/extension.ts'
import type { ReadItem, Source } from '../agent.ts'
import { findRolloutLog, historyBaseOf } from './find.ts'

/** More would be a circle of logs that refer to each other. */
const MAX_BASES = 50

/**
 * Adds the beginning after the header. Where the other log is not available, the issue that says so stays.
 * @param readBase reads the lines of a log before an ordinal
 */
export async function* withBeginning(
  source: Source,
  own: AsyncIterable<readonly ReadItem[]>,
  readBase: (source: Source, end: number, depth: number) => AsyncIterable<readonly ReadItem[]>,
  depth = 0,
): AsyncGenerator<readonly ReadItem[]> {
  let isHeader = true
  for await (const batch of own) {
    const at = isHeader ? batch.findIndex(({ kind }) => kind === 'message') : -1
    const header = batch[at]
    if (header?.kind !== 'message') {
      yield batch
      continue
    }
    isHeader = false
    const base = depth < MAX_BASES ? historyBaseOf(header.message.metadata?.['history_base']) : undefined
    const path = base && findRolloutLog(source, base.rollout)
    if (!base || path === undefined || path === source.path) {
      yield batch
      continue
    }
    yield batch.slice(0, at + 1).filter((one) => !isMissingBeginning(one))
    let isSameThread: boolean | undefined
    for await (const more of readBase({ ...source, path }, base.end, depth + 1)) {
      const first = more.find((one) => one.kind === 'message')
      isSameThread ??= first && first.message.metadata?.['id'] === header.message.metadata?.['id']
      yield more.flatMap((one) => inheritedItem(one, header.message, isSameThread === true))
    }
    yield batch.slice(at + 1).filter((one) => !isMissingBeginning(one))
  }
}

const isMissingBeginning = (one: ReadItem): boolean =>
  one.kind === 'issue' && one.issue.code === 'earlier_history_elsewhere'

/**
 * Tokens of the other log are counted there.
 * @param isOwn the other log is of the same thread, so its messages are not those of a parent
 */
function inheritedItem(one: ReadItem, { raw: { session_id } }: NormalizedMessage, isOwn: boolean): readonly ReadItem[] {
  if (one.kind === 'issue') return [one]
  if (one.kind !== 'message') return []
  const { usage: _, ...metadata } = one.message.metadata ?? {}
  const extension = extensionOf(one.message)
  const message = {
    ...one.message,
    raw: { ...one.message.raw, session_id },
    metadata: {
      ...metadata,
      ...(!isOwn && { replayed: true as const }),
      ...(extension && { x_conv: { ...extension, ...inheritedRecords(extension.records) } }),
    },
  }
  return [{ ...one, message }]
}

const inheritedRecords = (records: readonly unknown[] | undefined) =>
  records && {
    records: records.map((record) => (inheritedRecord(record) === undefined ? { inherited: record } : record)),
  }

/** The record of another log, on which the log that carries it builds. */
export function inheritedRecord(carried: unknown): unknown {
  const fields = fieldsOf(carried)
  return fields && Object.keys(fields).length === 1 ? fields['inherited'] : undefined
}

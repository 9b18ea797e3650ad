/** What a record of Qwen Code means after the earlier ones: tokens that were counted before, and turns that were left. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import { isSameUsage, type Usage } from '../../model/usage.ts'
import type { Source } from '../agent.ts'
import { followParent, type LiveRecords, repeatedIn, repeatMarks } from '../kit/branches.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { responseOf, usageOf } from './record.ts'

/** Plain JSON, for cursors. */
export interface Chain {
  /** Tokens that telemetry has counted, and the answer has not repeated yet. */
  told: Usage[]
  live: LiveRecords
  /** The record that is being read repeats the one with this message. */
  repeated: string | null
}

export const newChain = (): Chain => ({ told: [], live: [], repeated: null })

/** Requests run beside each other, so an answer may repeat one before the last. */
const MAX_TOLD = 64

export function relate(
  _draft: MessageDraft,
  record: Fields,
  id: string,
  chain: Chain,
  _source: Source,
  isFirst: boolean,
): Metadata | undefined {
  const uuid = stringOf(record['uuid']) ?? ''
  if (isFirst) chain.repeated = repeatedIn(chain.live, uuid) || null
  if (chain.repeated !== null) return repeatMarks(chain.repeated)
  if (!isFirst) return undefined
  const marks: Mutable<Metadata> = {}
  // Only a rewinding leaves everything; other records without a parent begin a part that was resumed.
  const parent = stringOf(record['parentUuid']) ?? (record['subtype'] === 'rewind' ? null : undefined)
  const left = followParent(chain.live, uuid, parent, id)
  if (left.length > 0) marks.rolled_back = left
  const response = responseOf(record)
  if (response) {
    marks.usage = response.usage
    if (response.model !== undefined) marks.model = response.model
    chain.told.push(response.usage)
    if (chain.told.length > MAX_TOLD) chain.told.shift()
  }
  const usage = usageOf(record)
  if (usage) {
    const told = chain.told.findIndex((one) => isSameUsage(one, usage))
    if (told >= 0) chain.told.splice(told, 1)
    else marks.usage = usage
  }
  for (const _ in marks) return marks
  return undefined
}

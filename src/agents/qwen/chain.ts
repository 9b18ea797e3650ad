/** What a record of Qwen Code means after the earlier ones: tokens that were counted before, and turns that were left. */
import { type Fields, stringOf } from '../../lib/unknown-values.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import { isSameUsage, type Usage } from '../../model/usage.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { responseOf, usageOf } from './record.ts'

/** Plain JSON, for cursors. */
export interface Chain {
  /** Tokens that telemetry has counted, and the answer has not repeated yet. */
  told: Usage[]
  /** The records from which the next may branch: each id, and that of our first message. */
  live: [uuid: string, id: string][]
  /** The record whose first message was related. */
  last: string | null
}

export const newChain = (): Chain => ({ told: [], live: [], last: null })

const MAX_LIVE = 4096
/** Requests run beside each other, so an answer may repeat one before the last. */
const MAX_TOLD = 64

export function relate(_draft: MessageDraft, record: Fields, id: string, chain: Chain): Metadata | undefined {
  const uuid = stringOf(record['uuid']) ?? ''
  if (chain.last === uuid) return undefined
  chain.last = uuid
  const marks: Mutable<Metadata> = {}
  const removed = branch(record, chain)
  if (removed.length > 0) marks.rolled_back = removed
  chain.live.push([uuid, id])
  if (chain.live.length > MAX_LIVE) chain.live.shift()
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

/** A record that does not follow the last one leaves what came after its parent. Returns those messages. */
function branch(record: Fields, { live }: Chain): readonly string[] {
  const parent = stringOf(record['parentUuid'])
  const at = parent === undefined ? -1 : live.findLastIndex(([uuid]) => uuid === parent)
  const isLeft = at >= 0 ? at < live.length - 1 : record['subtype'] === 'rewind' && parent === undefined
  return isLeft ? live.splice(at + 1).map(([, id]) => id) : []
}

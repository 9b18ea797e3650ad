/** A conversation as it stood before one of its entries was answered. */
import { readState } from '../../../conversation/codec/read-state.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import type { Source } from '../../agent.ts'
import { readRow } from './read-row.ts'
import { isSourceRow } from './source-row.ts'

/** @param entry counted from 1, those that the row has lost among them */
export async function stateAt(source: Source, entry: number): Promise<ConversationState | undefined> {
  const row = readRow(source)
  const read = isSourceRow(row) ? readState(decodeUtf8(row.bytes)) : undefined
  if (!read?.ok) return undefined
  const state = read.value
  const index = entry - (source.first_entry ?? 1)
  const requested = index < 0 ? undefined : state.history.at(index)
  if (!requested) return index === state.history.length && state.next_message ? state : undefined
  const start = Math.min(Number(state.valid_history_range[0]), index)
  const history = state.history.slice(0, index)
  return { ...state, history, next_message: requested.user, valid_history_range: [start, index] }
}

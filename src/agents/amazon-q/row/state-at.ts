/** A conversation as it stood before one of its entries was answered. */
import { readState } from '../../../conversation/codec/read.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { textOf } from '../../../lib/text.ts'
import type { Source } from '../../agent.ts'
import { rowOf } from './find-row.ts'
import { isRow } from './row.ts'

/** @param entry counted from 1, those that the row has lost among them */
export async function stateAt(source: Source, entry: number): Promise<ConversationState | undefined> {
  const row = rowOf(source)
  const read = isRow(row) ? readState(textOf(row.bytes)) : undefined
  if (!read?.ok) return undefined
  const state = read.value
  const index = entry - (source.first_entry ?? 1)
  const asked = index < 0 ? undefined : state.history.at(index)
  if (!asked) return index === state.history.length && state.next_message ? state : undefined
  const start = Math.min(Number(state.valid_history_range[0]), index)
  const history = state.history.slice(0, index)
  return { ...state, history, next_message: asked.user, valid_history_range: [start, index] }
}

/** The outline of a session: what was asked, and what became of it. */
import type { App, SessionEntry } from '../../../app.ts'
import type { TurnItem } from '../../../model/api/turn.ts'
import type { PromptCache } from './prompts.ts'
import type { SessionTally } from './tally.ts'

type Layout = ReturnType<App['index']['layout']>

/** Prompts beyond these are named by their number alone. */
const MAX_PROMPTS_READ = 2000

/** @param tally where the log was read to its end */
export async function buildTurnItems(
  prompts: PromptCache,
  entry: SessionEntry,
  { turns }: Layout,
  tally: SessionTally | undefined,
): Promise<readonly TurnItem[]> {
  const counted = tally?.turns() ?? []
  if (turns.length === 0) return counted.map((turn) => toEventTurnItem(turn))
  const byMessage = new Map(counted.map((turn) => [turn.message_id, turn]))
  const read = turns.slice(0, MAX_PROMPTS_READ).map(({ message }) => message)
  const summaries = await prompts.of(entry, read)
  return turns.map(({ message, offset, messages, started_at, ended_at, tools, errors }, at) => {
    const known = byMessage.get(message)
    const summary = summaries.get(message)
    return {
      number: at + 1,
      prompt: known?.prompt ?? summary?.text ?? null,
      message_id: message,
      offset,
      message_count: messages,
      started_at,
      ended_at,
      tool_count: tools,
      error_count: errors,
      usage: known?.usage ?? null,
      cost: known?.cost ?? null,
      rolled_back: tally ? tally.isRolledBack(message) : null,
      tangent: summary?.tangent === true,
    }
  })
}

/** A log that was trimmed to its events: their places are not known by rows alone. */
const toEventTurnItem = (turn: ReturnType<SessionTally['turns']>[number]): TurnItem => ({
  number: turn.number,
  prompt: turn.prompt,
  message_id: turn.message_id,
  offset: 0,
  message_count: 0,
  started_at: turn.started_at,
  ended_at: new Date(Date.parse(turn.started_at) + turn.duration_ms).toISOString(),
  tool_count: turn.tools,
  error_count: turn.errors,
  usage: turn.usage,
  cost: turn.cost,
  rolled_back: turn.rolled_back,
  tangent: false,
})

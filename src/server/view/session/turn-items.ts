/** The outline of a session: what was asked, and what became of it. */
import type { Entry, House } from '../../../app.ts'
import type { TurnItem } from '../../../model/api/turn.ts'
import { promptIn } from './prompt.ts'
import type { Tally } from './tally.ts'

type Layout = ReturnType<House['index']['layout']>

/** Prompts beyond these are named by their number alone. */
const MOST_READ = 2000

/** @param tally where the log was read to its end */
export async function turnItems(
  house: House,
  { id }: Entry,
  { turns }: Layout,
  tally: Tally | undefined,
): Promise<readonly TurnItem[]> {
  const counted = tally?.turns() ?? []
  if (turns.length === 0) return counted.map((turn) => fromEvents(turn))
  const byMessage = new Map(counted.map((turn) => [turn.message_id, turn]))
  const items: TurnItem[] = []
  for (const [at, { message, offset, messages, started_at, ended_at, tools, errors }] of turns.entries()) {
    const known = byMessage.get(message)
    const body = at < MOST_READ ? await house.message(id, message) : undefined
    const said = body?.kind === 'body' ? body.message : undefined
    items.push({
      number: at + 1,
      prompt: known?.prompt ?? (said ? promptIn(said) : null),
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
      tangent: said?.metadata?.['tangent'] === true,
    })
  }
  return items
}

/** A log that was trimmed to its events: their places are not known by rows alone. */
const fromEvents = (turn: ReturnType<Tally['turns']>[number]): TurnItem => ({
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

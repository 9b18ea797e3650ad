/** Converts chats to states and reads them strictly, like Amazon Q CLI. */
import { readFileSync } from 'node:fs'
import { readState } from '../../src/conversation/codec/state.ts'
import type { UserMessage } from '../../src/conversation/message.ts'
import type { HistoryEntry } from '../../src/conversation/record.ts'
import type { ConversationState } from '../../src/conversation/state.ts'
import { type ConvertedFile, convertTo, writeSourceFile } from './conversions.ts'

export type Message = Readonly<Record<string, unknown>>

export const user = (content: unknown): Message => ({ role: 'user', content })
export const assistantText = (content: string): Message => ({ role: 'assistant', content })
export const assistantCalls = (...ids: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'ls', arguments: `{"path":"${id}"}` } })),
})
export const result = (tool_call_id: string, content: string): Message => ({ role: 'tool', tool_call_id, content })

interface ConvertedState extends ConvertedFile {
  readonly state: ConversationState
  readonly entries: readonly HistoryEntry[]
  readonly repairs: readonly string[]
  readonly losses: readonly string[]
}

/** Reads strictly, like the program. */
export async function convertToState(messages: readonly Message[], more = {}): Promise<ConvertedState> {
  const trip = await convertTo(await writeSourceFile('openai', JSON.stringify({ messages })), 'amazon-q', more)
  const read = readState(readFileSync(trip.path, 'utf8'), { mode: 'strict' })
  if (!read.ok) throw new Error(read.reason)
  const { repairs, losses } = trip.report
  return {
    ...trip,
    state: read.value,
    entries: read.value.history.toArray(),
    repairs: repairs.map(({ what }) => what),
    losses: losses.map(({ what }) => what),
  }
}

export const shapes = ({ entries }: ConvertedState): readonly string[] =>
  entries.map(({ user, assistant }) => `${Object.keys(user.content)[0]} ${Object.keys(assistant)[0]}`)
export const promptIn = ({ content }: UserMessage): string | null | undefined =>
  'Prompt' in content
    ? content.Prompt.prompt
    : 'CancelledToolUses' in content
      ? content.CancelledToolUses.prompt
      : undefined
export const resultsIn = ({ content }: UserMessage) =>
  'Prompt' in content
    ? []
    : ('ToolUseResults' in content ? content.ToolUseResults : content.CancelledToolUses).tool_use_results
export const answerIn = ({ assistant }: HistoryEntry): string =>
  'Response' in assistant ? assistant.Response.content : assistant.ToolUse.content
export const usesIn = ({ assistant }: HistoryEntry) => ('ToolUse' in assistant ? assistant.ToolUse.tool_uses : [])

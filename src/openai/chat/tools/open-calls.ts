/** Calls that nobody has answered yet, and ids that are used once. */

import type { ToolCall } from '../../message.ts'
import { OpenAIMessage } from '../../openai-message.ts'

/** The calls of the last message that has any, as far as they are not answered by what follows it. */
export function findOpenCalls(messages: readonly OpenAIMessage[]): readonly ToolCall[] {
  const at = messages.findLastIndex((message) => message.hasToolCalls())
  const results = messages.slice(at + 1).filter((message) => message.is('tool'))
  const answered = new Set(results.map((message) => message.tool_call_id))
  return messages[at]?.tool_calls?.filter(({ id }) => !answered.has(id)) ?? []
}

/**
 * The message, with other ids for calls whose id was used before: some servers count from zero in every answer, and a
 * result must belong to one call only.
 */
export function withUniqueCallIds(message: OpenAIMessage, before: readonly OpenAIMessage[]): OpenAIMessage {
  if (!message.hasToolCalls()) return message
  const used = new Set(before.flatMap((one) => one.tool_calls?.map(({ id }) => id) ?? []))
  const calls = message.tool_calls.map((call) => {
    const id = toUnusedId(call.id, used)
    used.add(id)
    return id === call.id ? call : { ...call, id }
  })
  return calls.every((call, at) => call === message.tool_calls[at])
    ? message
    : new OpenAIMessage({ ...message.toJSON(), tool_calls: calls })
}

function toUnusedId(id: string, used: ReadonlySet<string>): string {
  if (!used.has(id)) return id
  for (let count = 2; ; count++) if (!used.has(`${id}_${count}`)) return `${id}_${count}`
}

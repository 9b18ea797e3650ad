/** Replays a recorded conversation instead of a server: no network, and the same answers every time. */
import type { AssistantMessage, ToolUseResult } from '../../conversation/message.ts'
import { toolUseResultsOf } from '../../conversation/message-text.ts'
import type { HistoryEntry } from '../../conversation/record.ts'
import { writeJson } from '../../lib/json/lossless.ts'
import { ChatFailure, type ChatTransport } from '../../openai/chat/transport.ts'

export interface Recording {
  readonly answers: readonly AssistantMessage[]
  /** By tool name, in the order of use; undefined for a use without result. */
  readonly results: ReadonlyMap<string, readonly (ToolUseResult | undefined)[]>
}

export function toRecording(entries: readonly HistoryEntry[]): Recording {
  const given = new Map(
    entries.flatMap(({ user }) => toolUseResultsOf(user) ?? []).map((result) => [result.tool_use_id, result]),
  )
  const results = new Map<string, (ToolUseResult | undefined)[]>()
  for (const { assistant } of entries)
    for (const { id, name } of 'ToolUse' in assistant ? assistant.ToolUse.tool_uses : [])
      results.set(name, [...(results.get(name) ?? []), given.get(id)])
  return { answers: entries.map(({ assistant }) => assistant), results }
}

/** Each request gets the next answer, whatever it contains. Requests after the last answer fail. */
export function createRecordedTransport(answers: readonly AssistantMessage[]): ChatTransport {
  let at = 0
  const next = (): AssistantMessage => {
    const answer = answers[at++]
    if (!answer) throw new ChatFailure({ kind: 'unknown', message: RECORDING_ENDED })
    return answer
  }
  return {
    complete: async () => ({ choices: [{ index: 0, message: toMessage(next()), finish_reason: 'stop' }] }),
    async *stream() {
      const answer = next()
      const { content } = 'Response' in answer ? answer.Response : answer.ToolUse
      for (const piece of content.match(/\s*\S+|\s+$/g) ?? []) yield chunk({ content: piece })
      yield chunk({ tool_calls: callsOf(answer) }, 'stop')
    },
  }
}

const RECORDING_ENDED = 'the recorded conversation has no further answer'

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta, finish_reason }],
})

const toMessage = (answer: AssistantMessage): object => ({
  role: 'assistant',
  content: ('Response' in answer ? answer.Response : answer.ToolUse).content,
  tool_calls: callsOf(answer),
})

function callsOf(answer: AssistantMessage): readonly object[] {
  if ('Response' in answer) return []
  return answer.ToolUse.tool_uses.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: writeJson(args) },
  }))
}

/** Answers from a conversation that was held before, one after the other: no network, and every time the same. */
import type { AssistantMessage } from '../../conversation/message.ts'
import { writeJson } from '../../lib/json/write.ts'
import { ChatFailure } from '../../openai/chat/chat-error.ts'
import type { ChatTransport } from '../../openai/chat/transport.ts'

/** Every request gets the next answer, whatever it asks. After the last one requests fail. */
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

/** Conversations for tests: over a real connection, with a clock that does not wait. */
import { type ChatEvent, ChatHelper, type ChatOptions, type Clock } from '../../../src/openai.ts'
import { openAITransport, type TransportOptions } from '../../../src/openai-transport.ts'
import { type ModelServer, modelServer, type Reply } from '../../support/model-server.ts'

export interface TestChat {
  readonly chat: ChatHelper
  readonly server: ModelServer
  /** Waits that would have happened. */
  readonly waits: readonly number[]
}

export async function startChat(
  replies: readonly Reply[],
  options: Partial<ChatOptions> = {},
  way: TransportOptions = {},
): Promise<TestChat> {
  const server = await modelServer(...replies)
  const { clock, waits } = instantClock()
  const transport = openAITransport({ baseURL: server.baseURL, ...way })
  return { chat: new ChatHelper({ transport, parameters: { model: 'm' }, clock, ...options }), server, waits }
}

/** Records waits and ends them immediately. */
export function instantClock(): { readonly clock: Clock; readonly waits: readonly number[] } {
  const waits: number[] = []
  const sleep = async (milliseconds: number): Promise<void> => void waits.push(milliseconds)
  return { clock: { now: () => 0, random: () => 0, sleep }, waits }
}

export async function collectEvents(turn: AsyncIterable<ChatEvent>): Promise<readonly ChatEvent[]> {
  const events: ChatEvent[] = []
  for await (const event of turn) events.push(event)
  return events
}

/** The history in short form: `user How many? / assistant call_1 / tool call_1 / assistant Three.` */
export function historyText(chat: ChatHelper): string {
  return chat.messages
    .map((message) => {
      const calls = message.tool_calls?.map(({ id }) => id).join('+')
      return [message.role, message.tool_call_id ?? calls ?? message.text].join(' ')
    })
    .join(' / ')
}

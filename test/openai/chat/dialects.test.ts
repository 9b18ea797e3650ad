/** Conversations with tools in the dialect of each server, over a real connection. */
import { describe, expect, test } from 'vitest'
import { type ChatEvent, ChatHelper, validate } from '../../../src/openai.ts'
import { openAITransport } from '../../../src/openai-transport.ts'
import { DIALECTS, type ModelAnswer, replyIn } from '../../support/dialects.ts'
import { modelServer } from '../../support/model-server.ts'

const asks: ModelAnswer = {
  reasoning: 'Two tables: 人 and 場所 🗾.',
  text: 'I look: 👩‍👩‍👧 …',
  calls: [
    { id: 'call_a1', name: 'count', arguments: '{"table":"人々"}' },
    { id: 'call_b2', name: 'count', arguments: '{"table":"places"}' },
  ],
}
const answers: ModelAnswer = { reasoning: 'Done.', text: '人 3、places 5 — 合計 8 🎉' }

describe.each(DIALECTS)('$name', (dialect) => {
  test.each([false, true])('runs tools and answers; streamed: %s', async (stream) => {
    const server = await modelServer(replyIn(dialect, asks, { packet: 5 }), replyIn(dialect, answers, { packet: 7 }))
    const chat = new ChatHelper({
      transport: openAITransport({ baseURL: server.baseURL }),
      parameters: { model: 'm' },
      systemPrompt: 'Count.',
      profile: dialect.profile,
    })
    const counted: unknown[] = []
    chat.registerTool({ name: 'count', parameters: { type: 'object' } }, (args) => {
      counted.push(args)
      return { rows: counted.length === 1 ? 3 : 5 }
    })
    const events: ChatEvent[] = []
    const result = await chat.prompt('How many?', { stream, onData: (event) => events.push(event) })

    expect(result.errors).toEqual([])
    if (!result.success) throw new Error('checked above')
    expect(result.message.text).toBe(answers.text)
    expect(counted).toEqual([{ table: '人々' }, { table: 'places' }])
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant'])
    expect(chat.messages[2]?.toJSON()).toEqual({ role: 'tool', tool_call_id: 'call_a1', content: '{"rows":3}' })
    expect(texts(events)).toBe(`${asks.text}${answers.text}`)
    expect(events.at(-1)).toEqual({ kind: 'done', result })
    const [, second] = server.asked
    expect(server.asked.map(({ body }) => body['stream'])).toEqual([stream, stream])
    expect(second?.body['tools']).toEqual([
      { type: 'function', function: { name: 'count', parameters: { type: 'object' } } },
    ])
    expect(second?.body.messages?.[0]).toEqual({ role: 'system', content: 'Count.' })
    expect(validate(second?.body.messages ?? [], dialect.profile)).toEqual([])
  })
})

function texts(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.kind === 'text' ? event.text : '')).join('')
}

/** Answers of a model as streamed chunks. */
import { events, type Reply, type Wire } from './model-server.ts'

export interface ChunkUsage {
  readonly input: number
  readonly output: number
}

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'test-model',
  choices: [{ index: 0, delta, finish_reason }],
})

const usageChunk = ({ input, output }: ChunkUsage): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
})

/** Text, a few letters per chunk. */
export function answer(text: string, counted?: ChunkUsage, wire: Wire = {}): Reply {
  const pieces = text.match(/[\s\S]{1,6}/gu) ?? []
  return events(
    [
      chunk({ role: 'assistant', content: '' }),
      ...pieces.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      ...(counted ? [usageChunk(counted)] : []),
    ],
    wire,
  )
}

export interface Call {
  readonly id?: string
  readonly name: string
  /** A string is used unchanged. */
  readonly args: object | string
}

export function calls(list: readonly Call[], text = '', counted?: ChunkUsage): Reply {
  const pieces = list.flatMap(({ id, name, args }, index) => {
    const written = typeof args === 'string' ? args : JSON.stringify(args)
    const half = Math.ceil(written.length / 2)
    return [
      chunk({
        tool_calls: [
          { index, id: id ?? `call_${index}`, type: 'function', function: { name, arguments: written.slice(0, half) } },
        ],
      }),
      chunk({ tool_calls: [{ index, function: { arguments: written.slice(half) } }] }),
    ]
  })
  return events([
    chunk({ role: 'assistant', content: text === '' ? null : text }),
    ...pieces,
    chunk({}, 'tool_calls'),
    ...(counted ? [usageChunk(counted)] : []),
  ])
}

export const refusal = (text: string): Reply =>
  events([chunk({ role: 'assistant' }), chunk({ refusal: text }), chunk({}, 'stop')])

/** Sends the beginning of an answer, then nothing while the client waits. */
export const stalls = (text: string): Reply => {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: text }))}\n\n`)
  }
}

/** Breaks the connection after this text. */
export const breaks = (text: string): Reply => {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify(chunk({ role: 'assistant', content: text }))}\n\n`, () =>
      response.socket?.destroy(),
    )
  }
}

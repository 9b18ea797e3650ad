/** A model on this machine that speaks OpenAI's Responses API, with a script, and counts what each thread used. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, stringOf } from '../../src/lib/unknown-values.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { onCleanup } from '../support/cleanup.ts'

export interface ResponsesServer {
  readonly baseURL: string
  /** Input of each request, by thread. */
  inputs(thread: string): readonly (readonly Fields[])[]
  usage(thread: string): Usage
}

/** A prompt with this word is answered by a shell command first. */
export const SHELL_WORD = 'dig'
export const SHELL_OUTPUT = 'a worm'
export const ANSWER = 'The garden is fine.'

export async function responsesServer(): Promise<ResponsesServer> {
  const inputs = new Map<string, (readonly Fields[])[]>()
  const used = new Map<string, Usage>()
  let count = 0
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end('{}')
    const body = fieldsOf(JSON.parse(await textOf(request))) ?? {}
    const thread = nonEmptyStringOf(request.headers['thread-id']) ?? nonEmptyStringOf(body['prompt_cache_key']) ?? ''
    const input = listOf(body['input']).filter(isObject)
    const usage = usageOf(++count)
    inputs.set(thread, [...(inputs.get(thread) ?? []), input])
    used.set(thread, addUsage(used.get(thread) ?? NO_USAGE, usage))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const item = replyTo(input, listOf(body['tools']), count)
    const id = `resp_${count}`
    const events: readonly (readonly [string, object])[] = [
      ['response.created', { response: { id, status: 'in_progress', output: [] } }],
      ['response.output_item.added', { output_index: 0, item }],
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response: { id, status: 'completed', output: [item], usage: toWire(usage) } }],
    ]
    for (const [type, fields] of events)
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
    response.end()
  })
  onCleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    inputs: (thread) => inputs.get(thread) ?? [],
    usage: (thread) => used.get(thread) ?? NO_USAGE,
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Numbers of their own, so that an answer that is lost or counted twice shows in a sum. */
function usageOf(count: number): Usage {
  const [input_tokens, output_tokens] = [2000 + 17 * count, 50 + 3 * count]
  const [cached_input_tokens, reasoning_output_tokens] = [1000 + 5 * count, 10 + count]
  const total_tokens = input_tokens + output_tokens
  return { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens }
}

const toWire = (usage: Usage): object => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: { cached_tokens: usage.cached_input_tokens },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_output_tokens },
  total_tokens: usage.total_tokens,
})

export const textsOf = (item: Fields): string =>
  typeof item['content'] === 'string'
    ? item['content']
    : listOf(item['content'])
        .map((part) => stringOf(fieldsOf(part)?.['text']) ?? '')
        .join('\n')

function replyTo(input: readonly Fields[], tools: readonly unknown[], count: number): Fields {
  const last = input.findLastIndex((item) => item['role'] === 'user')
  const isAnswered = input.slice(last).some((item) => item['type'] === 'function_call_output')
  const prompt = input[last]
  const tool = tools.map((one) => nonEmptyStringOf(fieldsOf(one)?.['name'])).find((name) => COMMAND_TOOLS.has(name))
  if (prompt && tool !== undefined && !isAnswered && textsOf(prompt).includes(SHELL_WORD)) {
    const command = `echo ${SHELL_OUTPUT}`
    const args = tool === 'exec_command' ? { cmd: command } : tool === 'shell_command' ? { command } : undefined
    const text = JSON.stringify(args ?? { command: ['bash', '-lc', command] })
    return { type: 'function_call', id: `fc_${count}`, call_id: `call_${count}`, name: tool, arguments: text }
  }
  const content = [{ type: 'output_text', text: ANSWER, annotations: [] }]
  return { type: 'message', id: `msg_${count}`, role: 'assistant', status: 'completed', content }
}

const COMMAND_TOOLS: ReadonlySet<string | undefined> = new Set(['exec_command', 'shell_command', 'shell'])

/**
 * A model on this machine with a script, which speaks OpenAI's chat completions and the Gemini API, keeps what it was
 * sent and counts what it used.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Fields, fieldsOf, isObject, listOf, stringOf } from '../../src/lib/unknown-values.ts'
import { addUsage, NO_USAGE, type Usage } from '../../src/model/usage.ts'
import { onCleanup } from '../support/cleanup.ts'

/** What one message of a request says: its text, or its call or result. */
export interface SentText {
  readonly role: 'user' | 'model' | 'tool'
  readonly text: string
}

export interface ScriptedModel {
  /** Without a path. */
  readonly address: string
  /** Of each conversation's requests, since the last call. Requests without tools are for titles and the like. */
  takeRequests(): readonly (readonly SentText[])[]
  /** Of the same requests, since the last call. @param isEvery of those without tools too */
  takeUsage(isEvery?: boolean): Usage
}

/** A prompt with this word is answered by a shell command first. */
export const SHELL_WORD = 'dig'
export const SHELL_OUTPUT = 'a worm'
export const ANSWER = 'The garden is fine.'
const WORDS_BEFORE_CALL = 'I take the spade.'

/** What the model does with a prompt: a word in it makes it call a tool first. */
export interface Script {
  readonly word: string
  readonly isTool: (name: string) => boolean
  readonly arguments: object
}

export async function scriptedModel(script: Script = SHELL_SCRIPT): Promise<ScriptedModel> {
  let requests: (readonly SentText[])[] = []
  let used = NO_USAGE
  let usedByAll = NO_USAGE
  let count = 0
  const server = createServer(async (request, response) => {
    const body = fieldsOf(JSON.parse((await textOf(request)) || '{}')) ?? {}
    const path = request.url ?? ''
    const isGemini = path.includes(':')
    if (request.method !== 'POST') return void response.writeHead(404).end('{}')
    if (path.includes(':countTokens')) return void response.end('{"totalTokens":10}')
    const sent = isGemini ? geminiTexts(body) : chatTexts(body)
    const usage = usageOf(++count)
    usedByAll = addUsage(usedByAll, usage)
    const shell = (isGemini ? geminiTools(body) : chatTools(body)).find(script.isTool)
    if (shell !== undefined) {
      requests.push(sent)
      used = addUsage(used, usage)
    }
    const call = shell !== undefined && wantsCall(sent, script.word) ? shell : undefined
    const reply = { usage, count, call, args: script.arguments }
    const isStreamed = isGemini ? path.includes(':stream') : body['stream'] === true
    if (isGemini) replyAsGemini(response, reply, isStreamed)
    else replyAsChat(response, reply, isStreamed)
  })
  onCleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeRequests() {
      const taken = requests
      requests = []
      return taken
    },
    takeUsage(isEvery = false) {
      const taken = isEvery ? usedByAll : used
      used = NO_USAGE
      usedByAll = NO_USAGE
      return taken
    },
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

interface ScriptedReply {
  readonly usage: Usage
  readonly count: number
  readonly call: string | undefined
  readonly args: object
}

const SHELL_TOOLS: ReadonlySet<string> = new Set(['run_shell_command', 'bash', 'shell'])
const SHELL_ARGUMENTS = { command: `echo ${SHELL_OUTPUT}`, description: 'dig', is_background: false }

const SHELL_SCRIPT: Script = {
  word: SHELL_WORD,
  isTool: (name) => SHELL_TOOLS.has(name),
  arguments: SHELL_ARGUMENTS,
}

const geminiTools = (body: Fields): readonly string[] =>
  listOf(body['tools'])
    .flatMap((tool) => listOf(fieldsOf(tool)?.['functionDeclarations']))
    .flatMap((one) => stringOf(fieldsOf(one)?.['name']) ?? [])

const chatTools = (body: Fields): readonly string[] =>
  listOf(body['tools']).flatMap((tool) => stringOf(fieldsOf(fieldsOf(tool)?.['function'])?.['name']) ?? [])

/** A shell command was asked for after which nothing ran. */
function wantsCall(sent: readonly SentText[], word: string): boolean {
  const last = sent.findLastIndex(({ role, text }) => role === 'user' && text.includes(word))
  return last >= 0 && last === sent.findLastIndex(({ role }) => role === 'user') && last === sent.length - 1
}

function geminiTexts(body: Fields): readonly SentText[] {
  return listOf(body['contents'])
    .filter(isObject)
    .flatMap(({ role, parts }) =>
      listOf(parts)
        .filter(isObject)
        .flatMap((part): readonly SentText[] => {
          if (part['functionCall'])
            return [{ role: 'model', text: JSON.stringify(fieldsOf(part['functionCall'])?.['args']) }]
          const response = fieldsOf(fieldsOf(part['functionResponse'])?.['response'])
          if (response) return [{ role: 'tool', text: stringOf(response['output'] ?? response['error']) ?? '' }]
          const text = stringOf(part['text'])
          return text === undefined || part['thought'] === true
            ? []
            : [{ role: role === 'model' ? 'model' : 'user', text }]
        }),
    )
}

function chatTexts(body: Fields): readonly SentText[] {
  return listOf(body['messages'])
    .filter(isObject)
    .flatMap((message): readonly SentText[] => {
      const role = stringOf(message['role'])
      if (role === 'system' || role === 'developer') return []
      const content = message['content']
      const text =
        stringOf(content) ??
        listOf(content)
          .map((part) => stringOf(fieldsOf(part)?.['text']) ?? '')
          .join('\n')
      const calls = listOf(message['tool_calls']).map((call) => ({
        role: 'model' as const,
        text: stringOf(fieldsOf(fieldsOf(call)?.['function'])?.['arguments']) ?? '',
      }))
      const own = role === 'tool' ? 'tool' : role === 'assistant' ? 'model' : 'user'
      return [...(text === '' ? [] : [{ role: own, text } as const]), ...calls]
    })
}

function replyAsGemini(
  response: ServerResponse,
  { usage, call, args, count }: ScriptedReply,
  isStreamed: boolean,
): void {
  const text = call === undefined ? ANSWER : WORDS_BEFORE_CALL
  const thought = { text: '**Garden**\nI look at it.', thought: true }
  const functionCall = call !== undefined && {
    functionCall: { id: `call_${count}`, name: call, args },
  }
  const parts = [thought, { text }, ...(functionCall ? [functionCall] : [])]
  const body = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: usage.input_tokens,
      cachedContentTokenCount: usage.cached_input_tokens,
      candidatesTokenCount: usage.output_tokens - usage.reasoning_output_tokens,
      thoughtsTokenCount: usage.reasoning_output_tokens,
      totalTokenCount: usage.total_tokens,
    },
    modelVersion: 'garden',
    responseId: `response_${count}`,
  }
  if (!isStreamed) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(body)}\n\n`)
}

function replyAsChat(response: ServerResponse, { usage, call, args, count }: ScriptedReply, isStreamed: boolean): void {
  const tool_calls = call === undefined ? undefined : [toolCall(call, count, args)]
  const message = {
    role: 'assistant',
    content: call === undefined ? ANSWER : WORDS_BEFORE_CALL,
    ...(tool_calls && { tool_calls }),
  }
  const finish_reason = call === undefined ? 'stop' : 'tool_calls'
  const wire = {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_output_tokens },
  }
  const base = { id: `chatcmpl_${count}`, created: 1_700_000_000, model: 'garden' }
  if (!isStreamed) {
    const body = { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage: wire }
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (fields: object): void =>
    void response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...fields })}\n\n`)
  chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] })
  chunk({ choices: [{ index: 0, delta: {}, finish_reason }] })
  chunk({ choices: [], usage: wire })
  response.end('data: [DONE]\n\n')
}

const toolCall = (name: string, count: number, args: object): object => ({
  index: 0,
  id: `call_${count}`,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
})

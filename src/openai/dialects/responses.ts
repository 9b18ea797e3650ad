/**
 * OpenAI's Responses API. Nothing is stored at the server: reasoning comes back encrypted and is sent again with the
 * answer that it belongs to.
 */
import { type Fields, fieldsOf, listOf, nonEmptyStringOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import type { ChatRequest } from '../chat/transport.ts'
import { allTextOf } from '../content.ts'
import { PROFILES, type Profile } from '../profile.ts'
import { REASONING_ITEMS } from '../stream/reasoning.ts'
import {
  type Dialect,
  deltaChunk,
  endChunks,
  inRecordedOrder,
  partsOf,
  type ReasoningItem,
  readableItems,
  reasoningItemsField,
  type StreamDecoder,
} from './dialect.ts'

const API = 'responses'

const PROFILE: Profile = {
  ...PROFILES.openai,
  keys: { ...PROFILES.openai.keys, assistant: [...PROFILES.openai.keys.assistant, REASONING_ITEMS] },
  customCalls: false,
}

export const RESPONSES: Dialect = {
  path: '/responses',
  profile: PROFILE,
  headers: () => ({}),
  toBody,
  decoder: (model) => new ResponsesDecoder(model),
}

/** Fields of a chat request that mean something else here, or do not exist. */
const TRANSLATED = new Set([
  'messages',
  'tools',
  'stream',
  'stream_options',
  'reasoning_effort',
  'response_format',
  'max_tokens',
  'max_completion_tokens',
])

function toBody(request: ChatRequest): Fields {
  const { model, messages, tools = [] } = request
  const rest = Object.fromEntries(Object.entries(request).filter(([key]) => !TRANSLATED.has(key)))
  const limit = request['max_completion_tokens'] ?? request['max_tokens']
  const effort = nonEmptyStringOf(request['reasoning_effort'])
  const format = fieldsOf(request['response_format'])
  const schema = fieldsOf(format?.['json_schema'])
  return {
    ...rest,
    stream: true,
    store: false,
    input: messages.flatMap((message) => toItems(message, model)),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    // Models that do not reason reject both.
    ...((effort !== undefined || isReasoningModel(model)) && {
      include: ['reasoning.encrypted_content'],
      reasoning: { ...(effort !== undefined && { effort }), summary: 'auto' },
    }),
    ...(limit !== undefined && { max_output_tokens: limit }),
    ...(schema && { text: { format: { type: 'json_schema', ...schema } } }),
  }
}

const isReasoningModel = (model: string): boolean =>
  /^(?:.*\/)?(?:o\d|gpt-[5-9]|codex)/i.test(model) && !/chat/i.test(model)

function toItems(message: Fields, model: string): readonly Fields[] {
  const { role, content } = message
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: message['tool_call_id'], output: allTextOf(content) }]
  if (role !== 'assistant') return [{ role, content: partsOf(content).flatMap(toInputPart) }]
  const calls = listOf(message['tool_calls']).flatMap((one): readonly [string, Fields][] => {
    const call = fieldsOf(one)
    const id = nonEmptyStringOf(call?.['id'])
    const called = fieldsOf(call?.['function'])
    if (id === undefined || !called) return []
    return [[id, { type: 'function_call', call_id: id, name: called['name'], arguments: called['arguments'] }]]
  })
  const text = allTextOf(content) || (stringOf(message['refusal']) ?? '')
  const said = text === '' ? undefined : { role: 'assistant', content: [{ type: 'output_text', text }] }
  return inRecordedOrder<Fields>(readableItems(message, API, model), said, new Map(calls), (block) => block)
}

function toInputPart(part: Fields): readonly Fields[] {
  switch (part['type']) {
    case 'text':
      return [{ type: 'input_text', text: part['text'] }]
    case 'image_url': {
      const { url, detail = 'auto' } = fieldsOf(part['image_url']) ?? {}
      return [{ type: 'input_image', image_url: url, detail }]
    }
    case 'file':
      return [{ type: 'input_file', ...fieldsOf(part['file']) }]
    default:
      return []
  }
}

function toTool(tool: Fields): Fields {
  const { name, description, parameters } = fieldsOf(tool['function']) ?? {}
  return { type: 'function', name, description, parameters, strict: false }
}

class ResponsesDecoder implements StreamDecoder {
  isComplete = false
  readonly #model: string
  #calls = 0
  /** By output index: what was streamed of an item. */
  readonly #open = new Map<number, { readonly call?: number; hasText: boolean }>()
  readonly #items = new Map<number, ReasoningItem>()
  #hasReasoned = false

  constructor(model: string) {
    this.#model = model
  }

  add(event: Fields): readonly Fields[] {
    const index = numberOf(event['output_index']) ?? this.#items.size
    const delta = stringOf(event['delta']) ?? ''
    const open = this.#open.get(index)
    switch (event['type']) {
      case 'response.created': {
        const response = fieldsOf(event['response'])
        return [{ id: response?.['id'], model: response?.['model'], choices: [] }]
      }
      case 'response.output_item.added':
        return this.#begin(index, fieldsOf(event['item']) ?? {})
      case 'response.output_text.delta':
        if (open) open.hasText = true
        return [deltaChunk({ content: delta })]
      case 'response.refusal.delta':
        if (open) open.hasText = true
        return [deltaChunk({ refusal: delta })]
      case 'response.reasoning_summary_part.added': {
        const isFirst = !this.#hasReasoned
        this.#hasReasoned = true
        return isFirst ? [] : [deltaChunk({ reasoning_content: '\n\n' })]
      }
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#hasReasoned = true
        return [deltaChunk({ reasoning_content: delta })]
      case 'response.function_call_arguments.delta':
        if (open) open.hasText = true
        return open?.call === undefined ? [] : [callChunk(open.call, { function: { arguments: delta } })]
      case 'response.output_item.done':
        return this.#end(index, fieldsOf(event['item']) ?? {})
      case 'response.completed':
      case 'response.incomplete':
        return this.#complete(fieldsOf(event['response']) ?? {})
      case 'response.failed':
        this.isComplete = true
        return [{ error: toStreamError(fieldsOf(event['response'])?.['error'] ?? 'the server failed') }]
      case 'error':
        this.isComplete = true
        return [{ error: toStreamError(fieldsOf(event['error']) ?? event) }]
      default:
        return []
    }
  }

  #begin(index: number, item: Fields): readonly Fields[] {
    if (item['type'] !== 'function_call') {
      this.#open.set(index, { hasText: false })
      return []
    }
    const call = this.#calls++
    this.#open.set(index, { call, hasText: false })
    const { call_id: id, name } = item
    return [callChunk(call, { id, type: 'function', function: { name, arguments: '' } })]
  }

  /** Some servers send an item only when it is complete. */
  #end(index: number, item: Fields): readonly Fields[] {
    const begun = this.#open.has(index) ? [] : this.#begin(index, item)
    const open = this.#open.get(index)
    switch (item['type']) {
      case 'reasoning': {
        const { status: _, ...block } = item
        this.#items.set(index, { kind: 'reasoning', block })
        return begun
      }
      case 'function_call': {
        const id = stringOf(item['call_id']) ?? ''
        this.#items.set(index, { kind: 'call', id })
        if (open?.call === undefined || open.hasText) return begun
        return [...begun, callChunk(open.call, { function: { arguments: stringOf(item['arguments']) ?? '' } })]
      }
      case 'message': {
        this.#items.set(index, { kind: 'text' })
        const text = listOf(item['content'])
          .map((part) => stringOf(fieldsOf(part)?.['text']) ?? '')
          .join('')
        return open?.hasText || text === '' ? begun : [...begun, deltaChunk({ content: text })]
      }
      default:
        return begun
    }
  }

  #complete(response: Fields): readonly Fields[] {
    this.isComplete = true
    const reason = fieldsOf(response['incomplete_details'])?.['reason']
    const finish =
      reason === 'max_output_tokens'
        ? 'length'
        : reason === 'content_filter'
          ? 'content_filter'
          : this.#calls > 0
            ? 'tool_calls'
            : 'stop'
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item)
    return endChunks(
      finish,
      reasoningItemsField({ api: API, model: this.#model, items }),
      toUsage(fieldsOf(response['usage'])),
    )
  }
}

const callChunk = (index: number, call: Fields): Fields => deltaChunk({ tool_calls: [{ index, ...call }] })

function toUsage(usage: Fields | undefined): Fields | undefined {
  if (!usage) return undefined
  const { cached_tokens, cache_write_tokens } = fieldsOf(usage['input_tokens_details']) ?? {}
  return {
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    prompt_tokens_details: { cached_tokens, cache_write_tokens },
    completion_tokens_details: fieldsOf(usage['output_tokens_details']) ?? {},
  }
}

/** Overload is temporary, like the HTTP status that says the same. */
function toStreamError(error: unknown): unknown {
  const fields = fieldsOf(error)
  if (!fields) return error
  const { code, message, param } = fields
  const status = code === 'rate_limit_exceeded' ? 429 : code === 'server_error' ? 500 : undefined
  return { code, message, param, ...(status !== undefined && { status }) }
}

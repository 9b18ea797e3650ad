/** Anthropic's Messages API. Thinking blocks go back unchanged, with their signatures. */
import {
  type Fields,
  fieldsOf,
  listOf,
  nonEmptyStringOf,
  numberOf,
  parseStructure,
  stringOf,
} from '../../lib/unknown-values.ts'
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

const API = 'anthropic'
const VERSION = '2023-06-01'

const PROFILE: Profile = {
  ...PROFILES.openai,
  label: 'Anthropic',
  keys: { ...PROFILES.openai.keys, assistant: ['tool_calls', REASONING_ITEMS] },
  parts: { ...PROFILES.openai.parts, user: ['text', 'image_url', 'file'] },
  images: { remote: true, types: ['png', 'jpeg', 'gif', 'webp'] },
  callIds: { legal: /^[A-Za-z0-9_-]{1,64}$/, prefix: 'toolu_', digits: 24 },
  customCalls: false,
  arguments: 'object',
}

export const ANTHROPIC: Dialect = {
  path: '/messages',
  profile: PROFILE,
  headers: (apiKey) => ({
    'anthropic-version': VERSION,
    authorization: null,
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
  }),
  toBody,
  decoder: (model) => new MessagesDecoder(model),
}

/** Fields of a chat request that this API has too. */
const SHARED = ['top_p', 'top_k', 'stop_sequences'] as const

function toBody(request: ChatRequest): Fields {
  const { model, messages, tools = [] } = request
  const system = messages
    .filter(isInstruction)
    .map(({ content }) => allTextOf(content))
    .filter((text) => text !== '')
  const effort = nonEmptyStringOf(request['reasoning_effort'])
  const format = fieldsOf(fieldsOf(request['response_format'])?.['json_schema'])?.['schema']
  const limit = numberOf(request['max_completion_tokens']) ?? numberOf(request['max_tokens']) ?? usualLimit(model)
  const thinking = thinkingOf(model, effort, limit)
  const output = {
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...(format !== undefined && { format: { type: 'json_schema', schema: format } }),
  }
  const temperature = thinking.thinking ? undefined : request['temperature']
  return {
    model,
    stream: true,
    max_tokens: limit,
    ...(system.length > 0 && { system: system.join('\n\n') }),
    messages: withCacheMark(toTurns(messages, model)),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(Object.keys(output).length > 0 && { output_config: output }),
    ...(temperature !== undefined && { temperature }),
    ...Object.fromEntries(SHARED.flatMap((key) => (request[key] === undefined ? [] : [[key, request[key]]]))),
  }
}

const isInstruction = ({ role }: Fields): boolean => role === 'system' || role === 'developer'

/** The API requires a limit. These are below what each generation allows. */
const usualLimit = (model: string): number => (/claude-(?:3-(?!7)|2|instant)/.test(model) ? 4_096 : 32_000)

/** Models whose thinking needs a budget. Newer ones decide themselves and take an effort. */
const BUDGETED = /claude-(?:3-7|opus-4-[015](?!\d)|opus-4-2025|sonnet-4-[05](?!\d)|sonnet-4-2025|haiku-4)/
const BUDGETS: { readonly [effort: string]: number } = { minimal: 1_024, low: 2_048, medium: 8_192, high: 24_000 }
const MIN_BUDGET = 1_024

function thinkingOf(
  model: string,
  effort: string | undefined,
  limit: number,
): { readonly thinking?: Fields; readonly effort?: string } {
  if (effort === undefined) return {}
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  if (!BUDGETED.test(model))
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: effort === 'minimal' ? 'low' : effort }
  // The answer needs a part of the limit.
  const budget = Math.max(MIN_BUDGET, Math.min(BUDGETS[effort] ?? 24_000, Math.floor(limit * 0.75)))
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** Turns of the user and the assistant alternate, so neighbours of the same role are joined. */
function toTurns(messages: readonly Fields[], model: string): readonly Turn[] {
  const turns: { role: 'user' | 'assistant'; content: Fields[] }[] = []
  for (const message of messages) {
    if (isInstruction(message)) continue
    const role = message['role'] === 'assistant' ? 'assistant' : 'user'
    const blocks = role === 'assistant' ? assistantBlocks(message, model) : userBlocks(message)
    if (blocks.length === 0) continue
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: [...blocks] })
  }
  return turns
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Fields[]
}

/** Everything up to the last block is cached for some minutes, so that the next request of the turn costs less. */
function withCacheMark(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (!last || !block || last.role === 'assistant') return turns
  const marked = { ...block, cache_control: { type: 'ephemeral' } }
  return [...turns.slice(0, -1), { ...last, content: [...last.content.slice(0, -1), marked] }]
}

function userBlocks(message: Fields): readonly Fields[] {
  const blocks = partsOf(message['content']).flatMap(toBlock)
  if (message['role'] !== 'tool') return blocks
  const text = allTextOf(message['content'])
  return [
    {
      type: 'tool_result',
      tool_use_id: message['tool_call_id'],
      content: text,
      ...(isError(text) && { is_error: true }),
    },
  ]
}

/** As `toolResultText` writes the status, for which chat completions have no field. */
const isError = (text: string): boolean => text.startsWith('Error: ')

function toBlock(part: Fields): readonly Fields[] {
  switch (part['type']) {
    case 'text':
      return stringOf(part['text']) ? [{ type: 'text', text: part['text'] }] : []
    case 'image_url': {
      const url = stringOf(fieldsOf(part['image_url'])?.['url']) ?? ''
      return [{ type: 'image', source: toSource(url) }]
    }
    case 'file': {
      const { file_data, filename } = fieldsOf(part['file']) ?? {}
      const data = stringOf(file_data)
      return data === undefined
        ? []
        : [{ type: 'document', source: toSource(data), ...(filename ? { title: filename } : {}) }]
    }
    default:
      return []
  }
}

function toSource(url: string): Fields {
  const [, media_type, data] = /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(url) ?? []
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type, data }
}

function assistantBlocks(message: Fields, model: string): readonly Fields[] {
  const calls = listOf(message['tool_calls']).flatMap((one): readonly [string, Fields][] => {
    const call = fieldsOf(one)
    const id = nonEmptyStringOf(call?.['id'])
    const called = fieldsOf(call?.['function'])
    if (id === undefined || !called) return []
    const input = fieldsOf(parseStructure(stringOf(called['arguments']) ?? '')) ?? {}
    return [[id, { type: 'tool_use', id, name: called['name'], input }]]
  })
  // White space alone is rejected.
  const text = allTextOf(message['content'])
  const said = text.trim() === '' ? undefined : { type: 'text', text }
  return inRecordedOrder<Fields>(readableItems(message, API, model), said, new Map(calls), (block) => block)
}

function toTool(tool: Fields): Fields {
  const { name, description, parameters } = fieldsOf(tool['function']) ?? {}
  return { name, ...(description ? { description } : {}), input_schema: parameters ?? { type: 'object' } }
}

const FINISH: { readonly [reason: string]: string } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
}

class MessagesDecoder implements StreamDecoder {
  isComplete = false
  readonly #model: string
  #calls = 0
  #usage: Fields = {}
  #stopReason = ''
  readonly #blocks = new Map<number, { block: Fields; readonly call?: number }>()

  constructor(model: string) {
    this.#model = model
  }

  add(event: Fields): readonly Fields[] {
    const index = numberOf(event['index']) ?? 0
    switch (event['type']) {
      case 'message_start': {
        const message = fieldsOf(event['message'])
        this.#usage = { ...fieldsOf(message?.['usage']) }
        return [{ id: message?.['id'], model: message?.['model'], choices: [] }]
      }
      case 'content_block_start':
        return this.#begin(index, fieldsOf(event['content_block']) ?? {})
      case 'content_block_delta':
        return this.#continue(index, fieldsOf(event['delta']) ?? {})
      case 'message_delta': {
        this.#stopReason = stringOf(fieldsOf(event['delta'])?.['stop_reason']) ?? this.#stopReason
        // Counts are totals, and may be repeated.
        for (const [key, value] of Object.entries(fieldsOf(event['usage']) ?? {}))
          if (value !== null) this.#usage = { ...this.#usage, [key]: value }
        return []
      }
      case 'message_stop':
        return this.#complete()
      case 'error':
        this.isComplete = true
        return [{ error: toStreamError(fieldsOf(event['error']) ?? event) }]
      default:
        return []
    }
  }

  #begin(index: number, block: Fields): readonly Fields[] {
    if (block['type'] !== 'tool_use') {
      this.#blocks.set(index, { block })
      const text = stringOf(block['text'])
      return text ? [deltaChunk({ content: text })] : []
    }
    const call = this.#calls++
    this.#blocks.set(index, { block, call })
    const { id, name, input } = block
    // The input comes in pieces, unless the server sends it at once.
    const known = Object.keys(fieldsOf(input) ?? {}).length > 0 ? JSON.stringify(input) : ''
    return [deltaChunk({ tool_calls: [{ index: call, id, type: 'function', function: { name, arguments: known } }] })]
  }

  #continue(index: number, delta: Fields): readonly Fields[] {
    const open = this.#blocks.get(index)
    switch (delta['type']) {
      case 'text_delta':
        return [deltaChunk({ content: delta['text'] })]
      case 'thinking_delta':
        if (open) open.block = append(open.block, 'thinking', delta)
        return [deltaChunk({ reasoning_content: delta['thinking'] })]
      case 'signature_delta':
        if (open) open.block = append(open.block, 'signature', delta)
        return []
      case 'input_json_delta':
        if (open?.call === undefined) return []
        return [deltaChunk({ tool_calls: [{ index: open.call, function: { arguments: delta['partial_json'] } }] })]
      default:
        return []
    }
  }

  #complete(): readonly Fields[] {
    this.isComplete = true
    const items = [...this.#blocks]
      .sort(([a], [b]) => a - b)
      .map(([, { block }]): ReasoningItem => {
        if (block['type'] === 'tool_use') return { kind: 'call', id: stringOf(block['id']) ?? '' }
        return block['type'] === 'text' ? { kind: 'text' } : { kind: 'reasoning', block }
      })
    const finish = FINISH[this.#stopReason] ?? (this.#calls > 0 ? 'tool_calls' : 'stop')
    return endChunks(finish, reasoningItemsField({ api: API, model: this.#model, items }), toUsage(this.#usage))
  }
}

const append = (block: Fields, key: string, delta: Fields): Fields => ({
  ...block,
  [key]: (stringOf(block[key]) ?? '') + (stringOf(delta[key]) ?? ''),
})

/** This API counts cached tokens beside the others; chat completions count them as a part. */
function toUsage(usage: Fields): Fields {
  const count = (key: string): number => numberOf(usage[key]) ?? 0
  const cached_tokens = count('cache_read_input_tokens')
  const cache_write_tokens = count('cache_creation_input_tokens')
  return {
    prompt_tokens: count('input_tokens') + cached_tokens + cache_write_tokens,
    completion_tokens: count('output_tokens'),
    prompt_tokens_details: { cached_tokens, cache_write_tokens },
  }
}

const STATUSES: { readonly [type: string]: number } = {
  overloaded_error: 529,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  authentication_error: 401,
  permission_error: 403,
  billing_error: 402,
}

function toStreamError({ type, message }: Fields): Fields {
  const status = typeof type === 'string' ? STATUSES[type] : undefined
  return { type, message, ...(status !== undefined && { status }) }
}

/** Conversations exported by ChatGPT: a tree of nodes, and the last node displayed. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  numberOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type FileConversation, type FileMessage, omitKeys } from '../file-conversation.ts'
import { toFileBranches } from './branches.ts'

const UNDERSTOOD_KEYS: ReadonlySet<string> = new Set([
  'id',
  'conversation_id',
  'title',
  'create_time',
  'mapping',
  'current_node',
])

export function readChatGpt(record: Fields): FileConversation {
  const mapping = fieldsOf(record['mapping']) ?? {}
  const nodes = Object.entries(mapping).map(([id, value]) => {
    const node = fieldsOf(value)
    const message = fieldsOf(node?.['message'])
    return { id, parent: nonEmptyStringOf(node?.['parent']), time: numberOf(message?.['create_time']) ?? 0, message }
  })
  const models = new Set<string>()
  for (const { message } of nodes) {
    const used = nonEmptyStringOf(fieldsOf(message?.['metadata'])?.['model_slug'])
    if (used !== undefined) models.add(used)
  }
  const slug = nonEmptyStringOf(record['default_model_slug'])
  if (models.size === 0 && slug !== undefined) models.add(slug)
  return {
    format: 'chatgpt',
    id: nonEmptyStringOf(record['conversation_id']) ?? nonEmptyStringOf(record['id']),
    title: nonEmptyStringOf(record['title']),
    created: record['create_time'],
    models: [...models],
    header: omitKeys(record, UNDERSTOOD_KEYS),
    branches: toFileBranches(nodes, nonEmptyStringOf(record['current_node']), toMessages),
  }
}

/** The root and other nodes without a message give nothing. */
function toMessages(node: { readonly id: string; readonly message: Fields | undefined }): readonly FileMessage[] {
  return node.message ? [toMessage(node.id, node.message)] : []
}

function toMessage(id: string, source: Fields): FileMessage {
  const { author, content, recipient, weight, metadata, ...rest } = source
  const { role, name, ...more } = fieldsOf(author) ?? {}
  const isCall = role === 'assistant' && nonEmptyStringOf(recipient) !== undefined && recipient !== 'all'
  const message: Record<string, unknown> = {
    ...rest,
    id: nonEmptyStringOf(source['id']) ?? id,
    role: stringOf(role) ?? 'unknown',
  }
  if (nonEmptyStringOf(name) !== undefined) message['name'] = name
  Object.assign(message, readContent(fieldsOf(content) ?? {}, isCall))
  if (isCall) {
    message['tool_calls'] = [
      { id, type: 'function', function: { name: recipient, arguments: joinTexts(message['content']) } },
    ]
    message['content'] = null
  } else if (recipient !== 'all' && recipient !== undefined) message['recipient'] = recipient
  if (weight !== 1 && weight !== undefined) message['weight'] = weight
  if (isHiddenMessage(source)) message['hidden'] = true
  if (!isEmpty(metadata)) message['metadata'] = metadata
  if (!isEmpty(more['metadata'])) message['author'] = more
  for (const key in message) if (message[key] === null && key !== 'content') delete message[key]
  return message
}

const isEmpty = (value: unknown): boolean => !isObject(value) || Object.keys(value).length === 0

/** Messages that ChatGPT hides: its own instructions, and messages outside the conversation. */
function isHiddenMessage(source: Fields): boolean {
  const metadata = fieldsOf(source['metadata'])
  if (source['weight'] === 0 || metadata?.['is_visually_hidden_from_conversation'] === true) return true
  return /_editable_context$/.test(stringOf(fieldsOf(source['content'])?.['content_type']) ?? '')
}

type ContentFields = { readonly content: unknown; readonly [key: string]: unknown }

function readContent(content: Fields, isCall: boolean): ContentFields {
  const { content_type: type, parts, ...rest } = content
  switch (type) {
    case 'text':
    case undefined:
      return fromParts(listOf(parts), rest)
    case 'multimodal_text':
      return fromParts(listOf(parts).map(toPart), rest)
    case 'code':
    case 'execution_output':
    case 'system_error':
    case 'tether_quote': {
      const { text, ...more } = rest
      return withExtraFields(stringOf(text) ?? '', isCall ? { content_type: type, ...more } : more)
    }
    case 'tether_browsing_display': {
      const { result, ...more } = rest
      return withExtraFields(stringOf(result) ?? '', more)
    }
    case 'thoughts':
      return { content: null, reasoning_content: listOf(rest['thoughts']).map(toThoughtText).join('\n\n') }
    case 'reasoning_recap':
      return { content: null, reasoning_content: stringOf(rest['content']) ?? '' }
    default:
      return withExtraFields(collectTexts(content), { content_type: type, ...rest })
  }
}

const fromParts = (parts: readonly unknown[], rest: Fields): ContentFields =>
  withExtraFields(
    parts.length === 1 && typeof parts[0] === 'string'
      ? parts[0]
      : parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
    rest,
  )

const withExtraFields = (content: unknown, rest: Fields): ContentFields =>
  Object.keys(rest).length > 0 ? { content, content_fields: rest } : { content }

function toPart(part: unknown): unknown {
  if (!isObject(part)) return part
  const { content_type: type, asset_pointer, ...rest } = part
  if (type === 'image_asset_pointer') return { type, image_url: { url: asset_pointer }, ...rest }
  return asset_pointer === undefined ? { type, ...rest } : { type, file: { file_id: asset_pointer }, ...rest }
}

const toThoughtText = (thought: unknown): string => {
  const { summary, content } = fieldsOf(thought) ?? {}
  return [nonEmptyStringOf(summary), nonEmptyStringOf(content)].filter((text) => text !== undefined).join('\n')
}

/** For custom instructions and unknown kinds of content: all texts in them. */
const collectTexts = ({ content_type: _, ...content }: Fields): string =>
  Object.values(content)
    .flatMap((value) => (typeof value === 'string' ? value : listOf(value).filter((one) => typeof one === 'string')))
    .join('\n\n')

const joinTexts = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => stringOf(fieldsOf(part)?.['text']) ?? toJsonText(part))
        .join('\n')

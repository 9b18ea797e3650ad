/** Records that hold messages as the chat API has them, or items of the Responses API: bare, wrapped, for fine-tuning, for batches, as answers. */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import {
  type FileBranch,
  type FileConversation,
  type FileFormat,
  type FileMessage,
  omitKeys,
} from '../file-conversation.ts'
import { findMessageWrapper, findPreference, isShareGptEntry, isTrainingExample } from '../record-shape.ts'
import { hasLlamaFactoryParts, readLlamaFactoryMessages, readRecordImages, readShareGptEntries } from './datasets.ts'

type ItemConverter = (item: Fields) => FileMessage

const ITEM_CONVERTERS: ReadonlyMap<string, ItemConverter> = new Map(
  Object.entries<ItemConverter>({
    message: (item) => item,
    function_call: toCallMessage,
    custom_tool_call: toCallMessage,
    function_call_output: toResultMessage,
    custom_tool_call_output: toResultMessage,
    reasoning: toReasoningMessage,
  }),
)

/** Items with a role are messages already. Unknown items are preserved under their type. */
export function readResponseItems(items: readonly unknown[]): readonly FileMessage[] {
  return items.map((item) => {
    if (!isObject(item) || 'role' in item) return item as FileMessage
    const type = stringOf(item['type']) ?? ''
    const convert = ITEM_CONVERTERS.get(type)
    return convert ? convert(item) : { ...item, role: type }
  })
}

/** Returns lists without such items unchanged; most have none. */
export const readChatMessages = (list: readonly unknown[]): readonly FileMessage[] =>
  list.some((one) => isObject(one) && !('role' in one)) ? readResponseItems(list) : (list as readonly FileMessage[])

function toCallMessage({ type, call_id, name, arguments: args, input, ...rest }: Fields): FileMessage {
  const call =
    type === 'custom_tool_call'
      ? { id: call_id, type: 'custom', custom: { name, input } }
      : { id: call_id, type: 'function', function: { name, arguments: args } }
  return { role: 'assistant', content: null, tool_calls: [call], ...rest }
}

function toResultMessage({ type: _, call_id, output, ...rest }: Fields): FileMessage {
  const content = typeof output === 'string' || Array.isArray(output) ? output : toJsonText(output ?? '')
  return { role: 'tool', tool_call_id: call_id, content, ...rest }
}

function toReasoningMessage({ type: _, summary, content, encrypted_content, ...rest }: Fields): FileMessage {
  const texts = [...listOf(summary), ...listOf(content)].flatMap(
    (part) => nonEmptyStringOf(fieldsOf(part)?.['text']) ?? [],
  )
  const details = encrypted_content === undefined ? {} : { reasoning_details: [{ data: encrypted_content }] }
  return { role: 'assistant', content: null, reasoning_content: texts.join('\n\n'), ...details, ...rest }
}

export const readArray = (list: readonly unknown[]): FileConversation => ({
  format: 'array',
  models: [],
  branches: [{ messages: readChatMessages(list) }],
})

const NO_MODELS: readonly string[] = []
const MESSAGES_KEY: ReadonlySet<string> = new Set(['messages'])

/** `{messages, …}`, including formats that differ only in the form of a message. */
export function readMessages(record: Fields, format: FileFormat): FileConversation {
  const list = listOf(record['messages'])
  const messages = format === 'llamafactory' ? readLlamaFactoryMessages(list) : readChatMessages(list)
  const header = omitKeys(record, MESSAGES_KEY)
  if (!header || isTrainingExample(header)) return { format, models: NO_MODELS, header, branches: [{ messages }] }
  return { ...readDescription(header), format, header, branches: [{ messages }] }
}

/** Messages inside another program's record, with the answer if a response is next to the request. */
export function readWrapped(record: Fields): FileConversation {
  const { path, messages } = findMessageWrapper(record) ?? { path: [], messages: [] }
  const [key = '', inner] = path
  const holder = inner === undefined ? undefined : fieldsOf(record[key])
  const header: Record<string, unknown> = { ...record }
  if (holder) header[key] = omitKeys(holder, new Set([inner ?? '']))
  else delete header[key]
  const response = fieldsOf(record['response'])
  if (response) header['response'] = omitAnswer(response)
  const answer = fieldsOf(response?.['body']) ?? response ?? {}
  const description = readDescription({ ...holder, ...record })
  return { ...description, format: 'trajectory', header, ...readChoices(answer, readChatMessages(messages)) }
}

/** Keys that become messages and token counts. */
const ANSWER_KEYS: ReadonlySet<string> = new Set(['choices', 'output', 'usage'])

function omitAnswer(response: Fields): Fields {
  const body = fieldsOf(response['body'])
  return body ? { ...response, body: omitKeys(body, ANSWER_KEYS) } : (omitKeys(response, ANSWER_KEYS) ?? {})
}

export function readBatchRequest(record: Fields): FileConversation {
  const body = fieldsOf(record['body']) ?? {}
  const { messages, input, ...rest } = body
  const items = input === undefined ? readChatMessages(listOf(messages)) : readInputMessages(input)
  return {
    ...readDescription(body),
    format: 'batch-request',
    id: nonEmptyStringOf(record['custom_id']),
    system: nonEmptyStringOf(body['instructions']),
    header: { ...record, body: rest },
    branches: [{ messages: items }],
  }
}

export function readBatchResponse(record: Fields): FileConversation {
  const response = fieldsOf(record['response'])
  const body = fieldsOf(response?.['body']) ?? {}
  return {
    ...readDescription(body),
    format: 'batch-response',
    id: nonEmptyStringOf(record['custom_id']),
    header: response ? { ...record, response: omitAnswer(response) } : record,
    ...(Array.isArray(body['output']) ? readOutput(body) : readChoices(body, [])),
  }
}

const COMPLETION_KEYS: ReadonlySet<string> = new Set(['id', 'created', 'model', 'choices', 'usage'])

export function readCompletion(record: Fields): FileConversation {
  const header = omitKeys(record, COMPLETION_KEYS)
  return { ...readDescription(record), format: 'chat.completion', header, ...readChoices(record, []) }
}

const RESPONSE_KEYS: ReadonlySet<string> = new Set(['id', 'created_at', 'model', 'input', 'output', 'usage'])

export function readResponse(record: Fields): FileConversation {
  const system = nonEmptyStringOf(record['instructions'])
  return {
    ...readDescription(record),
    format: 'response',
    system,
    header: omitKeys(record, RESPONSE_KEYS),
    ...readOutput(record),
  }
}

/** A plain text is a prompt. */
const readInputMessages = (input: unknown): readonly FileMessage[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : readResponseItems(listOf(input))

const readOutput = (record: Fields): Pick<FileConversation, 'branches' | 'usage'> => ({
  usage: fieldsOf(record['usage']),
  branches: [
    { messages: [...readInputMessages(record['input'] ?? []), ...readResponseItems(listOf(record['output']))] },
  ],
})

/** The first choice continues the conversation; each other choice is a branch. */
function readChoices(record: Fields, before: readonly FileMessage[]): Pick<FileConversation, 'branches' | 'usage'> {
  const [first, ...others] = listOf(record['choices']).filter(isObject)
  const main: FileBranch = { messages: first ? [...before, toChoiceMessage(first)] : before }
  const after = before.length > 0 ? { branch: 0, message: before.length - 1 } : undefined
  const branches = others.map((choice, at): FileBranch => {
    const name = `choice-${at + 1}`
    return { name, label: { text: name, from: 0 }, after, messages: [toChoiceMessage(choice)] }
  })
  return { usage: fieldsOf(record['usage']), branches: [main, ...branches] }
}

function toChoiceMessage({ message, index: _, ...rest }: Fields): FileMessage {
  return { role: 'assistant', ...fieldsOf(message), ...rest }
}

/** A prompt with two answers. If both lists contain the prompt, it is marked as repeated in the second. */
export function readPreference(record: Fields): FileConversation {
  const found = findPreference(record)
  const input = fieldsOf(record['input'])
  const prompt = listOf(input?.['messages'] ?? record['prompt'] ?? record['conversations'] ?? record['messages'])
  const [chosenKey = '', rejectedKey = ''] = found?.keys ?? []
  const before = readAnswerMessages(prompt)
  const chosen = readAnswerMessages(toList(found?.chosen))
  const rejected = readAnswerMessages(toList(found?.rejected))
  const shared = sharedPrefixLength(chosen, rejected)
  const start = before.length + shared
  const used = new Set([chosenKey, rejectedKey, ...(prompt.length > 0 ? ['prompt', 'conversations', 'messages'] : [])])
  const rest = input?.['messages'] ? { ...record, input: omitKeys(input, MESSAGES_KEY) ?? {} } : record
  return {
    ...readDescription(record),
    format: 'dpo',
    header: omitKeys(rest, used),
    branches: [
      { messages: [...before, ...chosen], label: { text: 'chosen', from: start } },
      {
        name: 'rejected',
        messages: rejected,
        label: { text: 'rejected', from: shared },
        after: start > 0 ? { branch: 0, message: start - 1 } : undefined,
        repeated: shared,
      },
    ],
  }
}

const toList = (value: unknown): readonly unknown[] => (isObject(value) ? [value] : listOf(value))

function readAnswerMessages(list: readonly unknown[]): readonly FileMessage[] {
  if (list.some(isShareGptEntry)) return readShareGptEntries(list)
  return hasLlamaFactoryParts(list) ? readLlamaFactoryMessages(list) : readChatMessages(list)
}

function sharedPrefixLength(a: readonly FileMessage[], b: readonly FileMessage[]): number {
  let length = 0
  while (length < a.length - 1 && length < b.length - 1 && toJsonText(a[length]) === toJsonText(b[length])) length++
  return length
}

/** Common descriptive fields of records. */
function readDescription(
  record: Fields,
): Pick<FileConversation, 'id' | 'title' | 'created' | 'models' | 'system' | 'images'> {
  const model = nonEmptyStringOf(record['model'])
  return {
    id:
      nonEmptyStringOf(record['id']) ??
      nonEmptyStringOf(record['conversation_id']) ??
      nonEmptyStringOf(record['session_id']),
    title: stringOf(record['title']),
    created: record['created'] ?? record['create_time'] ?? record['created_at'] ?? record['timestamp'],
    models: model === undefined ? NO_MODELS : [model],
    system: nonEmptyStringOf(record['system']),
    images: readRecordImages(record),
  }
}

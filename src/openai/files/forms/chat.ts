/** Records that hold messages as the chat API has them: bare, wrapped, for fine-tuning, for batches, as answers. */
import { type Fields, fieldsOf, isObject, jsonText, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import { type Branch, type ChatMessage, type Conversation, type Format, without } from '../conversation.ts'
import { isExample, isShareGptEntry, preferenceOf, wrapperOf } from '../shape.ts'
import { imagesIn } from './images.ts'
import { hasValues, messagesOfParts } from './llamafactory.ts'
import { chatMessages, messagesOfItems } from './responses.ts'
import { messagesOfEntries } from './sharegpt.ts'

export const readArray = (list: readonly unknown[]): Conversation => ({
  format: 'array',
  models: [],
  branches: [{ messages: chatMessages(list) }],
})

const NONE: readonly string[] = []
const MESSAGES: ReadonlySet<string> = new Set(['messages'])

/** `{messages, …}`: also the forms that only differ in how a message looks. */
export function readMessages(record: Fields, format: Format): Conversation {
  const list = listOf(record['messages'])
  const messages = format === 'llamafactory' ? messagesOfParts(list) : chatMessages(list)
  const header = without(record, MESSAGES)
  if (!header || isExample(header)) return { format, models: NONE, header, branches: [{ messages }] }
  return { ...aboutOf(header), format, header, branches: [{ messages }] }
}

/** Messages somewhere inside another program's record, with the answer where a response stands beside the request. */
export function readWrapped(record: Fields): Conversation {
  const { path, messages } = wrapperOf(record) ?? { path: [], messages: [] }
  const [key = '', inner] = path
  const holder = inner === undefined ? undefined : fieldsOf(record[key])
  const header: Record<string, unknown> = { ...record }
  if (holder) header[key] = without(holder, new Set([inner ?? '']))
  else delete header[key]
  const response = fieldsOf(record['response'])
  if (response) header['response'] = withoutAnswer(response)
  const answer = fieldsOf(response?.['body']) ?? response ?? {}
  const about = aboutOf({ ...holder, ...record })
  return { ...about, format: 'trajectory', header, ...choicesOf(answer, chatMessages(messages)) }
}

/** What becomes messages and counts. */
const ANSWER: ReadonlySet<string> = new Set(['choices', 'output', 'usage'])

function withoutAnswer(response: Fields): Fields {
  const body = fieldsOf(response['body'])
  return body ? { ...response, body: without(body, ANSWER) } : (without(response, ANSWER) ?? {})
}

export function readBatchRequest(record: Fields): Conversation {
  const body = fieldsOf(record['body']) ?? {}
  const { messages, input, ...rest } = body
  const items = input === undefined ? chatMessages(listOf(messages)) : inputMessages(input)
  return {
    ...aboutOf(body),
    format: 'batch-request',
    id: wordOf(record['custom_id']),
    system: wordOf(body['instructions']),
    header: { ...record, body: rest },
    branches: [{ messages: items }],
  }
}

export function readBatchResponse(record: Fields): Conversation {
  const response = fieldsOf(record['response'])
  const body = fieldsOf(response?.['body']) ?? {}
  return {
    ...aboutOf(body),
    format: 'batch-response',
    id: wordOf(record['custom_id']),
    header: response ? { ...record, response: withoutAnswer(response) } : record,
    ...(Array.isArray(body['output']) ? outputOf(body) : choicesOf(body, [])),
  }
}

const COMPLETION: ReadonlySet<string> = new Set(['id', 'created', 'model', 'choices', 'usage'])

export function readCompletion(record: Fields): Conversation {
  const header = without(record, COMPLETION)
  return { ...aboutOf(record), format: 'chat.completion', header, ...choicesOf(record, []) }
}

const RESPONSE: ReadonlySet<string> = new Set(['id', 'created_at', 'model', 'input', 'output', 'usage'])

export function readResponse(record: Fields): Conversation {
  const system = wordOf(record['instructions'])
  return { ...aboutOf(record), format: 'response', system, header: without(record, RESPONSE), ...outputOf(record) }
}

/** A text is what the user said. */
const inputMessages = (input: unknown): readonly ChatMessage[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : messagesOfItems(listOf(input))

const outputOf = (record: Fields): Pick<Conversation, 'branches' | 'usage'> => ({
  usage: fieldsOf(record['usage']),
  branches: [{ messages: [...inputMessages(record['input'] ?? []), ...messagesOfItems(listOf(record['output']))] }],
})

/** The first choice goes on with the messages; each other one is a branch. */
function choicesOf(record: Fields, before: readonly ChatMessage[]): Pick<Conversation, 'branches' | 'usage'> {
  const [first, ...others] = listOf(record['choices']).filter(isObject)
  const main: Branch = { messages: first ? [...before, choiceMessage(first)] : before }
  const after = before.length > 0 ? { branch: 0, message: before.length - 1 } : undefined
  const branches = others.map((choice, at): Branch => {
    const name = `choice-${at + 1}`
    return { name, label: { text: name, from: 0 }, after, messages: [choiceMessage(choice)] }
  })
  return { usage: fieldsOf(record['usage']), branches: [main, ...branches] }
}

function choiceMessage({ message, index: _, ...rest }: Fields): ChatMessage {
  return { role: 'assistant', ...fieldsOf(message), ...rest }
}

/** A prompt with two answers. Where both lists repeat the prompt, the second repeats the first. */
export function readPreference(record: Fields): Conversation {
  const found = preferenceOf(record)
  const input = fieldsOf(record['input'])
  const prompt = listOf(input?.['messages'] ?? record['prompt'] ?? record['conversations'] ?? record['messages'])
  const [chosenKey = '', rejectedKey = ''] = found?.keys ?? []
  const before = answerMessages(prompt)
  const chosen = answerMessages(listed(found?.chosen))
  const rejected = answerMessages(listed(found?.rejected))
  const shared = sharedLength(chosen, rejected)
  const start = before.length + shared
  const used = new Set([chosenKey, rejectedKey, ...(prompt.length > 0 ? ['prompt', 'conversations', 'messages'] : [])])
  const rest = input?.['messages'] ? { ...record, input: without(input, MESSAGES) ?? {} } : record
  return {
    ...aboutOf(record),
    format: 'dpo',
    header: without(rest, used),
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

const listed = (value: unknown): readonly unknown[] => (isObject(value) ? [value] : listOf(value))

function answerMessages(list: readonly unknown[]): readonly ChatMessage[] {
  if (list.some(isShareGptEntry)) return messagesOfEntries(list)
  return hasValues(list) ? messagesOfParts(list) : chatMessages(list)
}

function sharedLength(a: readonly ChatMessage[], b: readonly ChatMessage[]): number {
  let length = 0
  while (length < a.length - 1 && length < b.length - 1 && jsonText(a[length]) === jsonText(b[length])) length++
  return length
}

/** What many records say about their conversation, under these names. */
function aboutOf(record: Fields): Pick<Conversation, 'id' | 'title' | 'created' | 'models' | 'system' | 'images'> {
  const model = wordOf(record['model'])
  return {
    id: wordOf(record['id']) ?? wordOf(record['conversation_id']) ?? wordOf(record['session_id']),
    title: stringOf(record['title']),
    created: record['created'] ?? record['create_time'] ?? record['created_at'] ?? record['timestamp'],
    models: model === undefined ? NONE : [model],
    system: wordOf(record['system']),
    images: imagesIn(record),
  }
}

/** Conversations as Claude.ai exports them. */
import { type Fields, fieldsOf, isObject, jsonText, listOf, stringOf, wordOf } from '../../../lib/object.ts'
import { type ChatMessage, type Conversation, without } from '../conversation.ts'
import { branchesOf } from './branches.ts'

const UNDERSTOOD: ReadonlySet<string> = new Set(['uuid', 'name', 'created_at', 'chat_messages', 'model'])

export function readClaude(record: Fields): Conversation {
  const sources = listOf(record['chat_messages']).filter(isObject)
  const isTree = sources.some((source) => wordOf(source['parent_message_uuid']) !== undefined)
  let before: string | undefined
  const nodes = sources.map((source, at) => {
    const id = wordOf(source['uuid']) ?? `#${at}`
    const parent = isTree ? wordOf(source['parent_message_uuid']) : before
    before = id
    return { id, parent, time: at, source }
  })
  const model = wordOf(record['model'])
  return {
    format: 'claude',
    id: wordOf(record['uuid']),
    title: wordOf(record['name']),
    created: record['created_at'],
    models: model === undefined ? [] : [model],
    header: without(record, UNDERSTOOD),
    branches: branchesOf(nodes, wordOf(record['current_leaf_message_uuid']), ({ id, source }) =>
      messagesOf(id, source),
    ),
  }
}

/** One message, or several where tools were used in between: their results stand among its parts. */
function messagesOf(id: string, source: Fields): readonly ChatMessage[] {
  const { uuid, sender, text, content, attachments, files, ...rest } = source
  const base = { id: uuid, role: roleOf(sender), ...rest }
  const given = listOf(attachments).map(attachmentPart)
  const named = listOf(files).map(filePart)
  const blocks = listOf(content)
  if (blocks.length === 0) {
    const parts = [...given, ...named]
    const words = stringOf(text) ?? ''
    return [{ ...base, content: parts.length === 0 ? words : [{ type: 'text', text: words }, ...parts] }]
  }
  return [...turnsOf(id, base, blocks, [...given, ...named])]
}

/** @param id tells calls without an id of their own from those of other messages */
function* turnsOf(
  id: string,
  base: Fields,
  blocks: readonly unknown[],
  more: readonly unknown[],
): Generator<ChatMessage> {
  const { created_at } = base
  let open: Record<string, unknown> = { ...base }
  let parts: unknown[] = []
  let calls: object[] = []
  let count = 0
  for (const block of [...blocks, ...more]) {
    const fields = fieldsOf(block)
    if (fields?.['type'] === 'tool_use') calls.push(callOf(fields, `${id}.${++count}`))
    else if (fields?.['type'] === 'tool_result') {
      if (parts.length > 0 || calls.length > 0) yield closed(open, parts, calls)
      yield resultOf(fields, idOf(calls) ?? `${id}.${count}`, created_at)
      open = { id: base['id'], role: base['role'], created_at }
      parts = []
      calls = []
    } else parts.push(block)
  }
  if (parts.length > 0 || calls.length > 0) yield closed(open, parts, calls)
}

function closed(open: Fields, parts: readonly unknown[], calls: readonly object[]): ChatMessage {
  const only = parts.length === 1 ? fieldsOf(parts[0]) : undefined
  const content = only?.['type'] === 'text' && Object.keys(only).length === 2 ? only['text'] : parts
  return { ...open, content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function callOf({ type: _, id, name, input, ...rest }: Fields, place: string): object {
  return { id: wordOf(id) ?? place, type: 'function', function: { name, arguments: jsonText(input ?? {}) }, ...rest }
}

const idOf = (calls: readonly object[]): string | undefined => wordOf(fieldsOf(calls.at(-1))?.['id'])

function resultOf(
  { type: _, tool_use_id, content, ...rest }: Fields,
  nearest: string,
  created_at: unknown,
): ChatMessage {
  return { role: 'tool', tool_call_id: wordOf(tool_use_id) ?? nearest, content, created_at, ...rest }
}

function roleOf(sender: unknown): string {
  return sender === 'human' ? 'user' : (stringOf(sender) ?? 'unknown')
}

/** The text of a file that was given, or only its name. */
function attachmentPart(value: unknown): unknown {
  const { extracted_content, ...rest } = fieldsOf(value) ?? {}
  const text = wordOf(extracted_content)
  return text === undefined ? { type: 'file', file: rest } : { type: 'attachment', text, ...rest }
}

const filePart = (value: unknown): unknown => ({ type: 'file', file: value })

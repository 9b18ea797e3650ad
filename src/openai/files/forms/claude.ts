/** Conversations exported by Claude.ai. */
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  stringOf,
  toJsonText,
} from '../../../lib/unknown-values.ts'
import { type FileConversation, type FileMessage, omitKeys } from '../file-conversation.ts'
import { toFileBranches } from './branches.ts'

const UNDERSTOOD_KEYS: ReadonlySet<string> = new Set(['uuid', 'name', 'created_at', 'chat_messages', 'model'])

export function readClaude(record: Fields): FileConversation {
  const sources = listOf(record['chat_messages']).filter(isObject)
  const isTree = sources.some((source) => nonEmptyStringOf(source['parent_message_uuid']) !== undefined)
  let before: string | undefined
  const nodes = sources.map((source, at) => {
    const id = nonEmptyStringOf(source['uuid']) ?? `#${at}`
    const parent = isTree ? nonEmptyStringOf(source['parent_message_uuid']) : before
    before = id
    return { id, parent, time: at, source }
  })
  const model = nonEmptyStringOf(record['model'])
  return {
    format: 'claude',
    id: nonEmptyStringOf(record['uuid']),
    title: nonEmptyStringOf(record['name']),
    created: record['created_at'],
    models: model === undefined ? [] : [model],
    header: omitKeys(record, UNDERSTOOD_KEYS),
    branches: toFileBranches(nodes, nonEmptyStringOf(record['current_leaf_message_uuid']), ({ id, source }) =>
      toMessages(id, source),
    ),
  }
}

/** Returns several messages if the parts include tool results. */
function toMessages(id: string, source: Fields): readonly FileMessage[] {
  const { uuid, sender, text, content, attachments, files, ...rest } = source
  const base = { id: uuid, role: toRole(sender), ...rest }
  const attachmentParts = listOf(attachments).map(toAttachmentPart)
  const fileParts = listOf(files).map(toFilePart)
  const blocks = listOf(content)
  if (blocks.length === 0) {
    const parts = [...attachmentParts, ...fileParts]
    const plainText = stringOf(text) ?? ''
    return [{ ...base, content: parts.length === 0 ? plainText : [{ type: 'text', text: plainText }, ...parts] }]
  }
  return [...splitAtResults(id, base, blocks, [...attachmentParts, ...fileParts])]
}

/** @param id makes ids for calls without one unique */
function* splitAtResults(
  id: string,
  base: Fields,
  blocks: readonly unknown[],
  more: readonly unknown[],
): Generator<FileMessage> {
  const { created_at } = base
  let open: Record<string, unknown> = { ...base }
  let parts: unknown[] = []
  let calls: object[] = []
  let count = 0
  for (const block of [...blocks, ...more]) {
    const fields = fieldsOf(block)
    if (fields?.['type'] === 'tool_use') calls.push(toCall(fields, `${id}.${++count}`))
    else if (fields?.['type'] === 'tool_result') {
      if (parts.length > 0 || calls.length > 0) yield closeMessage(open, parts, calls)
      yield toResult(fields, lastCallIdOf(calls) ?? `${id}.${count}`, created_at)
      open = { id: base['id'], role: base['role'], created_at }
      parts = []
      calls = []
    } else parts.push(block)
  }
  if (parts.length > 0 || calls.length > 0) yield closeMessage(open, parts, calls)
}

function closeMessage(open: Fields, parts: readonly unknown[], calls: readonly object[]): FileMessage {
  const only = parts.length === 1 ? fieldsOf(parts[0]) : undefined
  const content = only?.['type'] === 'text' && Object.keys(only).length === 2 ? only['text'] : parts
  return { ...open, content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function toCall({ type: _, id, name, input, ...rest }: Fields, fallbackId: string): object {
  return {
    id: nonEmptyStringOf(id) ?? fallbackId,
    type: 'function',
    function: { name, arguments: toJsonText(input ?? {}) },
    ...rest,
  }
}

const lastCallIdOf = (calls: readonly object[]): string | undefined => nonEmptyStringOf(fieldsOf(calls.at(-1))?.['id'])

function toResult(
  { type: _, tool_use_id, content, ...rest }: Fields,
  nearest: string,
  created_at: unknown,
): FileMessage {
  return { role: 'tool', tool_call_id: nonEmptyStringOf(tool_use_id) ?? nearest, content, created_at, ...rest }
}

function toRole(sender: unknown): string {
  return sender === 'human' ? 'user' : (stringOf(sender) ?? 'unknown')
}

/** The text of an attached file, or only its name. */
function toAttachmentPart(value: unknown): unknown {
  const { extracted_content, ...rest } = fieldsOf(value) ?? {}
  const text = nonEmptyStringOf(extracted_content)
  return text === undefined ? { type: 'file', file: rest } : { type: 'attachment', text, ...rest }
}

const toFilePart = (value: unknown): unknown => ({ type: 'file', file: value })

/** Reads a record of a file as a conversation in normal form, or says why it is not one. */
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import type { FileConversation } from './file-conversation.ts'
import * as chat from './forms/chat.ts'
import { readChatGpt } from './forms/chatgpt.ts'
import { readClaude } from './forms/claude.ts'
import { readShareGpt } from './forms/datasets.ts'
import { detectRecordShape, type ForeignShape, isForeignShape } from './record-shape.ts'

export type ReadRecordResult =
  | { readonly ok: true; readonly conversation: FileConversation }
  | { readonly ok: false; readonly shape: ForeignShape }

/** @param isLine the record is on a line of its own, like fine-tuning examples */
export function readRecord(value: unknown, isLine: boolean): ReadRecordResult {
  const shape = detectRecordShape(value)
  if (isForeignShape(shape)) return { ok: false, shape }
  if (Array.isArray(value)) return { ok: true, conversation: chat.readArray(value) }
  const record: Fields = isObject(value) ? value : {}
  return { ok: true, conversation: READER_BY_FORMAT[shape](record, isLine) }
}

type RecordReader = (record: Fields, isLine: boolean) => FileConversation

const READER_BY_FORMAT: Readonly<Record<FileConversation['format'], RecordReader>> = {
  array: () => chat.readArray([]),
  messages: (record, isLine) => chat.readMessages(record, isLine ? 'sft' : 'messages'),
  sft: (record) => chat.readMessages(record, 'sft'),
  llamafactory: (record) => chat.readMessages(record, 'llamafactory'),
  dpo: chat.readPreference,
  'batch-request': chat.readBatchRequest,
  'batch-response': chat.readBatchResponse,
  'chat.completion': chat.readCompletion,
  response: chat.readResponse,
  sharegpt: readShareGpt,
  trajectory: chat.readWrapped,
  chatgpt: readChatGpt,
  claude: readClaude,
}

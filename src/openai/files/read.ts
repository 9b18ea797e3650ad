/** A record of a file as a conversation in the normal form, or why it is none. */
import { type Fields, isObject } from '../../lib/object.ts'
import type { Conversation } from './conversation.ts'
import * as chat from './forms/chat.ts'
import { readChatGpt } from './forms/chatgpt.ts'
import { readClaude } from './forms/claude.ts'
import { readShareGpt } from './forms/sharegpt.ts'
import { type Foreign, isForeign, shapeOf } from './shape.ts'

export type Reading =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly shape: Foreign }

/** @param isLine the record stands on a line of its own, as examples for fine-tuning do */
export function readRecord(value: unknown, isLine: boolean): Reading {
  const shape = shapeOf(value)
  if (isForeign(shape)) return { ok: false, shape }
  if (Array.isArray(value)) return { ok: true, conversation: chat.readArray(value) }
  const record: Fields = isObject(value) ? value : {}
  return { ok: true, conversation: READERS[shape](record, isLine) }
}

type Reader = (record: Fields, isLine: boolean) => Conversation

const READERS: Readonly<Record<Conversation['format'], Reader>> = {
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

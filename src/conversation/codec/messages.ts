/** Reads and writes one message or one entry, for callers that have no complete state. */

import type { AssistantMessage, UserMessage } from '../message.ts'
import type { HistoryEntry } from '../record.ts'
import {
  type Codec,
  type NotRead,
  type Read,
  type ReadOptions,
  readAs,
  readValueAs,
  type WriteOptions,
  writeAs,
} from './codec.ts'
import { assistantMessage, historyEntry, userMessage } from './entry.ts'

/** From JSON text, or from a value that was parsed elsewhere. */
const readOne = <T>(codec: Codec<T>, source: unknown, options: ReadOptions): Read<T> | NotRead =>
  typeof source === 'string' ? readAs(codec, source, options) : readValueAs(codec, source, options)

/**
 * From JSON text or a parsed value. Never throws; the result says what is wrong and where.
 *
 * @example
 * const read = readUserMessage(text)
 * console.log(read.ok ? read.value.content : read.reason)
 */
export function readUserMessage(source: unknown, options: ReadOptions = {}): Read<UserMessage> | NotRead {
  return readOne(userMessage, source, options)
}

export function readAssistantMessage(source: unknown, options: ReadOptions = {}): Read<AssistantMessage> | NotRead {
  return readOne(assistantMessage, source, options)
}

export function readHistoryEntry(source: unknown, options: ReadOptions = {}): Read<HistoryEntry> | NotRead {
  return readOne(historyEntry, source, options)
}

/** As the original writes it; numbers keep their spelling. */
export function writeUserMessage(message: UserMessage, options: WriteOptions = {}): string {
  return writeAs(userMessage, message, options)
}

export function writeAssistantMessage(message: AssistantMessage, options: WriteOptions = {}): string {
  return writeAs(assistantMessage, message, options)
}

export function writeHistoryEntry(entry: HistoryEntry, options: WriteOptions = {}): string {
  return writeAs(historyEntry, entry, options)
}

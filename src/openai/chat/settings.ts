/** How a conversation behaves, and how it is kept: plain JSON. */

import { fieldsOf, isObject, listOf, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { MessageFields } from '../message.ts'
import { PROFILES, type ProfileName } from '../profile.ts'
import { type ChatError, parseChatError } from './chat-error.ts'
import { DEFAULT_MAX_RETRIES } from './send/retry.ts'

/** What is sent with every request. `messages` and `stream` are set by the turn; `tools` are to be registered. */
export interface ChatParameters {
  readonly model: string
  readonly [key: string]: unknown
}

export interface ChatSettings {
  /** The most messages that are kept, beside the system prompt. Zero or less: all. */
  numberOfMessages: number
  /** The most tokens that are sent, as far as they can be counted; null: any number. */
  tokenBudget: number | null
  /** Whether calls are run and answered here, or left to the caller. */
  autoHandleToolCalls: boolean
  /** How often a turn may run tools and ask again. */
  maxRounds: number
  /** Whether the calls of one message are run at the same time. */
  parallel: boolean
  /** How long a tool may run that has no limit of its own; null: as long as it likes. */
  toolTimeoutMs: number | null
  /** How often a request is sent again after a failure that may pass. */
  maxRetries: number
  /** Whether a turn that fails leaves the history as it was before. */
  rollbackOnFailure: boolean
}

export const DEFAULT_CHAT_SETTINGS: Readonly<ChatSettings> = {
  numberOfMessages: 15,
  tokenBudget: null,
  autoHandleToolCalls: true,
  maxRounds: 10,
  parallel: false,
  toolTimeoutMs: null,
  maxRetries: DEFAULT_MAX_RETRIES,
  rollbackOnFailure: false,
}

export interface SavedChat extends Readonly<ChatSettings> {
  readonly version: 1
  /** Null where it was none of those that have a name. */
  readonly profile: ProfileName | null
  readonly systemPrompt: MessageFields | null
  readonly parameters: ChatParameters
  readonly messages: readonly MessageFields[]
  readonly lastErrors: readonly ChatError[]
}

/** The settings among the values, each of its type; others are not looked at. */
export function pickChatSettings(values: { readonly [key: string]: unknown }): Partial<ChatSettings> {
  const known = Object.entries(DEFAULT_CHAT_SETTINGS).filter(([key, defaultValue]) => {
    const value = values[key]
    return defaultValue === null ? value === null || typeof value === 'number' : typeof value === typeof defaultValue
  })
  return Object.fromEntries(known.map(([key]) => [key, values[key]]))
}

/** Throws `bad_usage` where this is no saved conversation, or one of a later version. */
export function parseSavedChat(value: unknown): SavedChat {
  const saved = fieldsOf(typeof value === 'string' ? parseStructure(value) : value)
  const parameters = fieldsOf(saved?.['parameters'])
  if (
    saved?.['version'] !== 1 ||
    typeof parameters?.['model'] !== 'string' ||
    !listOf(saved['messages']).every(isObject)
  ) {
    throw new AppError(
      'bad_usage',
      'this is no saved conversation of version 1',
      '保存された会話（版 1）ではありません。',
    )
  }
  return {
    ...DEFAULT_CHAT_SETTINGS,
    ...pickChatSettings(saved),
    version: 1,
    profile: isProfileName(saved['profile']) ? saved['profile'] : null,
    systemPrompt: fieldsOf(saved['systemPrompt']) ?? null,
    parameters: parameters as ChatParameters,
    messages: listOf(saved['messages']) as readonly MessageFields[],
    lastErrors: listOf(saved['lastErrors']).flatMap((error) => parseChatError(error) ?? []),
  }
}

const isProfileName = (name: unknown): name is ProfileName => typeof name === 'string' && Object.hasOwn(PROFILES, name)

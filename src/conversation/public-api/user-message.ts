/** UserMessage and AssistantMessage as the specification names them: values with methods. No method changes a message in place. */

import { AppError } from '../../model/error.ts'
import type { NotRead, Read, ReadOptions } from '../codec/codec.ts'
import { readAssistantMessage, readUserMessage } from '../codec/messages.ts'
import type * as data from '../message.ts'
import {
  contentWithContext,
  hasToolUseResults,
  promptOf,
  replaceContentWithToolUseResults,
  toolUseResultsOf,
  truncateMessage,
  type Warn,
} from '../message-text.ts'
import {
  environmentOf,
  type Machine,
  NO_ENVIRONMENT,
  newCancelledToolUses,
  newPrompt,
  newResponse,
  newToolUse,
  newToolUseResults,
  newToolUseResultsWithImages,
} from '../new-message.ts'
import type { Tools } from '../record.ts'
import { intoHistoryEntry, intoUserInputMessage, type UserInputMessage } from '../request.ts'
import { formatStoredTime, parseZonedTime } from '../zoned-time.ts'
import { requireList, requireMachine, requireText } from './arguments.ts'

/** Respells the time as Amazon Q CLI stores it. Throws if it is not a time with offset. */
export function normalizeTimestamp(timestamp: string): string
export function normalizeTimestamp(timestamp: string | null): string | null
export function normalizeTimestamp(timestamp: string | null): string | null {
  if (timestamp === null) return null
  const zoned = typeof timestamp === 'string' ? parseZonedTime(timestamp) : undefined
  if (!zoned)
    throw new AppError(
      'bad_usage',
      'A message needs a time with its offset, such as 2025-10-25T14:53:00+09:00',
      'メッセージの時刻は、2025-10-25T14:53:00+09:00 のように時差まで指定してください',
    )
  return formatStoredTime(zoned)
}

function requireRead<T>(read: Read<T> | NotRead): T {
  if (read.ok) return read.value
  throw new AppError(
    'nothing_readable',
    `This is not a message: ${read.reason}`,
    `メッセージではありません（${read.reason}）`,
  )
}

/**
 * Its fields are the message's JSON, so it can be used wherever a plain message is expected.
 *
 * @example
 * const message = UserMessage.newPrompt('Hello, Q!', '2025-10-25T14:53:00+09:00')
 * message.contentWithContext()
 */
export class UserMessage implements data.UserMessage {
  readonly additional_context: string
  readonly env_context: data.UserEnvContext
  readonly content: data.UserMessageContent
  readonly timestamp: string | null
  readonly images: readonly data.ImageBlock[] | null

  constructor(message: data.UserMessage) {
    this.additional_context = message.additional_context
    this.env_context = message.env_context
    this.content = message.content
    this.timestamp = message.timestamp
    this.images = message.images
  }

  /** From JSON text or a parsed value. Throws if it is not a message; `readUserMessage` returns a value instead. */
  static fromJSON(source: unknown, options: ReadOptions = {}): UserMessage {
    return new UserMessage(requireRead(readUserMessage(source, options)))
  }

  /** @param env from {@link UserEnvContext.generateNew}; default: no environment */
  static newPrompt(
    prompt: string,
    timestamp: string | null = null,
    env: data.UserEnvContext = NO_ENVIRONMENT,
  ): UserMessage {
    requireText(prompt, 'prompt')
    return new UserMessage(newPrompt(prompt, normalizeTimestamp(timestamp), env))
  }

  /**
   * @example
   * UserMessage.newCancelledToolUses('Cancel these tools', ['tool_1', 'tool_2'])
   */
  static newCancelledToolUses(
    prompt: string | null,
    toolUseIds: Iterable<string>,
    timestamp: string | null = null,
    env: data.UserEnvContext = NO_ENVIRONMENT,
  ): UserMessage {
    return new UserMessage(newCancelledToolUses(prompt, toolUseIds, normalizeTimestamp(timestamp), env))
  }

  /**
   * @example
   * UserMessage.newToolUseResults([{ tool_use_id: 'tool_1', content: [{ Text: 'Success' }], status: 'Success' }])
   */
  static newToolUseResults(
    results: readonly data.ToolUseResult[],
    env: data.UserEnvContext = NO_ENVIRONMENT,
  ): UserMessage {
    requireList(results, 'results')
    return new UserMessage(newToolUseResults(results, env))
  }

  static newToolUseResultsWithImages(
    results: readonly data.ToolUseResult[],
    images: readonly data.ImageBlock[],
    timestamp: string | null = null,
    env: data.UserEnvContext = NO_ENVIRONMENT,
  ): UserMessage {
    requireList(results, 'results')
    requireList(images, 'images')
    return new UserMessage(newToolUseResultsWithImages(results, images, normalizeTimestamp(timestamp), env))
  }

  /** Converts to an earlier message of a request: with tool results, without tools. */
  intoHistoryEntry(): UserInputMessage {
    return intoHistoryEntry(this)
  }

  /**
   * Converts to the current message of a request.
   *
   * @example
   * message.intoUserInputMessage('anthropic.claude-3-5-sonnet-20241022-v2:0', new Map())
   */
  intoUserInputMessage(modelId: string | null, tools: Tools): UserInputMessage {
    return intoUserInputMessage(this, modelId, tools)
  }

  hasToolUseResults(): boolean {
    return hasToolUseResults(this)
  }

  toolUseResults(): readonly data.ToolUseResult[] | undefined {
    return toolUseResultsOf(this)
  }

  prompt(): string | undefined {
    return promptOf(this)
  }

  /** Returns a copy whose content has about `maxBytes` bytes at most. */
  truncateSafe(maxBytes: number, warn?: Warn): UserMessage {
    return new UserMessage(truncateMessage<data.UserMessage>(this, maxBytes, warn))
  }

  /** Returns a copy with the tool results as a prompt. */
  replaceContentWithToolUseResults(warn?: Warn): UserMessage {
    return new UserMessage(replaceContentWithToolUseResults<data.UserMessage>(this, warn))
  }

  /** The prompt as sent to the model, with time and context. */
  contentWithContext(): string {
    return contentWithContext(this)
  }
}

export const UserEnvContext = {
  /**
   * @param machine for instance `processEnvironment`. If its directory cannot be read, it is omitted and `log` gets a line.
   */
  generateNew(machine: Machine, log?: Warn): data.UserEnvContext {
    requireMachine(machine, 'UserEnvContext.generateNew(machine)')
    return environmentOf(machine, log)
  },
} as const

/**
 * An answer: text, optionally with tool uses.
 *
 * @example
 * AssistantMessage.newResponse('msg_123', 'Here is the answer.').content()
 */
export class AssistantMessage {
  readonly #message: data.AssistantMessage

  constructor(message: data.AssistantMessage) {
    this.#message = message
  }

  /** From JSON text or a parsed value. Throws if it is not a message; `readAssistantMessage` returns a value instead. */
  static fromJSON(source: unknown, options: ReadOptions = {}): AssistantMessage {
    return new AssistantMessage(requireRead(readAssistantMessage(source, options)))
  }

  static newResponse(messageId: string | null, content: string): AssistantMessage {
    requireText(content, 'content')
    return new AssistantMessage(newResponse(messageId, content))
  }

  static newToolUse(
    messageId: string | null,
    content: string,
    toolUses: readonly data.AssistantToolUse[],
  ): AssistantMessage {
    requireText(content, 'content')
    requireList(toolUses, 'toolUses')
    return new AssistantMessage(newToolUse(messageId, content, toolUses))
  }

  messageId(): string | null {
    return this.#body().message_id
  }

  content(): string {
    return this.#body().content
  }

  /** Undefined for a plain response; an empty list for a tool use without tools. */
  toolUses(): readonly data.AssistantToolUse[] | undefined {
    return 'ToolUse' in this.#message ? this.#message.ToolUse.tool_uses : undefined
  }

  toJSON(): data.AssistantMessage {
    return this.#message
  }

  #body(): { readonly message_id: string | null; readonly content: string } {
    return 'Response' in this.#message ? this.#message.Response : this.#message.ToolUse
  }
}

/** Creates messages. Time and environment are arguments. */

import { MAX_CURRENT_WORKING_DIRECTORY_LEN, TOOL_USE_CANCELLED } from './limits.ts'
import type {
  AssistantMessage,
  AssistantToolUse,
  EnvState,
  ImageBlock,
  ImageFormat,
  ToolUseResult,
  UserEnvContext,
  UserMessage,
  UserMessageContent,
} from './message.ts'
import { truncateSafe, type Warn } from './message-text.ts'

/** The machine, as recorded in a message. */
export interface Machine {
  /** Node's name: `darwin`, `linux`, `win32`. */
  readonly platform: string
  /** Throws if the directory no longer exists. */
  readonly cwd: () => string
}

export const NO_ENVIRONMENT: UserEnvContext = { env_state: null }

export function newPrompt(prompt: string, timestamp: string | null, env: UserEnvContext): UserMessage {
  return newUserMessage({ Prompt: { prompt } }, timestamp, null, env)
}

/** Gives every tool use a result that says it was cancelled. */
export function newCancelledToolUses(
  prompt: string | null,
  toolUseIds: Iterable<string>,
  timestamp: string | null,
  env: UserEnvContext,
): UserMessage {
  const tool_use_results = Array.from(toolUseIds, cancelledResult)
  return newUserMessage({ CancelledToolUses: { prompt, tool_use_results } }, timestamp, null, env)
}

function cancelledResult(tool_use_id: string): ToolUseResult {
  return { tool_use_id, content: [{ Text: TOOL_USE_CANCELLED }], status: 'Error' }
}

export function newToolUseResults(results: readonly ToolUseResult[], env: UserEnvContext): UserMessage {
  return newUserMessage({ ToolUseResults: { tool_use_results: results } }, null, null, env)
}

export function newToolUseResultsWithImages(
  results: readonly ToolUseResult[],
  images: readonly ImageBlock[],
  timestamp: string | null,
  env: UserEnvContext,
): UserMessage {
  return newUserMessage({ ToolUseResults: { tool_use_results: results } }, timestamp, images, env)
}

function newUserMessage(
  content: UserMessageContent,
  timestamp: string | null,
  images: readonly ImageBlock[] | null,
  env_context: UserEnvContext,
): UserMessage {
  return { additional_context: '', env_context, content, timestamp, images }
}

export function newResponse(message_id: string | null, content: string): AssistantMessage {
  return { Response: { message_id, content } }
}

export function newToolUse(
  message_id: string | null,
  content: string,
  tool_uses: readonly AssistantToolUse[],
): AssistantMessage {
  return { ToolUse: { message_id, content, tool_uses } }
}

const SYSTEM_NAMES = new Map([
  ['darwin', 'macos'],
  ['win32', 'windows'],
])

export function environmentOf(machine: Machine, warn: Warn = () => {}): UserEnvContext {
  return { env_state: environmentState(machine, warn) }
}

function environmentState({ platform, cwd }: Machine, warn: Warn): EnvState {
  const state = {
    operating_system: SYSTEM_NAMES.get(platform) ?? platform,
    current_working_directory: null,
    environment_variables: [],
  }
  try {
    return { ...state, current_working_directory: truncateSafe(cwd(), MAX_CURRENT_WORKING_DIRECTORY_LEN) }
  } catch {
    warn('the current directory cannot be read; the message goes without it')
    return state
  }
}

const IMAGE_FORMATS = new Map<string, ImageFormat>([
  ['gif', 'Gif'],
  ['jpg', 'Jpeg'],
  ['jpeg', 'Jpeg'],
  ['png', 'Png'],
  ['webp', 'Webp'],
])

/** @param extension without the dot */
export function imageFormatOf(extension: string): ImageFormat | undefined {
  return IMAGE_FORMATS.get(extension.trim().toLowerCase())
}

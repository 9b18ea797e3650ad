/** What goes to the model before its next answer: instructions, prompts, images and the results of tools. */

import { sha256 } from '../../lib/hash.ts'
import { isSameJson } from '../../lib/json/compare.ts'
import { type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import { toWellFormed } from '../../lib/text.ts'
import type { MessageSegment, NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import {
  attachmentNote,
  attachmentsOf,
  type ConversionChange,
  imageAddressesOf,
  type OrphanStep,
  orphanText,
  type ReplayCall,
  type ReplayResult,
  textsOfMessage,
  toConversionChange,
} from '../../model/replay/step.ts'
import { type NameRule, nameCall, UniqueCallIds, UniqueToolNames } from '../../model/replay/unique-names.ts'
import { byteLength } from '../../model/token-estimate.ts'
import { readValueAs } from '../codec/codec.ts'
import { envState } from '../codec/entry.ts'
import { freeJson } from '../codec/free-json.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  EMPTY_PROMPT,
  MAX_CURRENT_WORKING_DIRECTORY_LEN,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  MAX_USER_MESSAGE_SIZE,
  TOOL_USE_CANCELLED,
} from '../limits.ts'
import type {
  AssistantToolUse,
  ImageBlock,
  ToolResultStatus,
  ToolUseResult,
  ToolUseResultBlock,
  UserEnvContext,
  UserMessage,
  UserMessageContent,
} from '../message.ts'
import { trimWhiteSpace, truncateSafe, truncateSafeInPlace } from '../message-text.ts'
import { imageFormatOf } from '../new-message.ts'
import { parseZonedTime } from '../zoned-time.ts'

export interface UseNaming {
  readonly ids: UniqueCallIds
  readonly names: UniqueToolNames
  /** Reports inserted or changed values. */
  repair(what: ConversionChange): void
  /** Reports values that are incomplete. */
  loss(what: ConversionChange): void
}

const TOOL_NAME_RULE: NameRule = { fits: /^[A-Za-z][A-Za-z0-9_]*$/, allowedCharacters: /[A-Za-z0-9_]/, maxLength: 64 }

export const createUseNaming = (reporters: Pick<UseNaming, 'repair' | 'loss'>): UseNaming => ({
  ids: new UniqueCallIds(Number.POSITIVE_INFINITY, sha256),
  names: new UniqueToolNames(TOOL_NAME_RULE, sha256),
  ...reporters,
})

/** A tool use with the call it was made from. */
export interface WrittenToolUse {
  readonly call: ReplayCall
  readonly use: AssistantToolUse
}

export function toToolUse(call: ReplayCall, naming: UseNaming): WrittenToolUse {
  const { tool } = call
  const { id: taken, name } = nameCall(call, naming, (change) => naming.repair(change))
  const id = toWellFormed(taken)
  if (id !== taken && taken === tool.call_id) naming.repair(toConversionChange('call_id_changed'))
  const args = toArguments(tool, naming)
  return { call, use: { id, name, orig_name: name, args, orig_args: args } }
}

/** The program's parser allows 128 levels, some of which the surrounding state needs. */
const MAX_DEPTH = 100

/** Wraps anything but readable JSON, so that the tool's input is preserved. */
function toArguments({ arguments: text, input }: ToolCall, naming: UseNaming): JsonValue {
  if (text === undefined || text.trim() === '') return input === undefined ? {} : { input: toWellFormed(input) }
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  const read = parsed.ok ? readValueAs(freeJson, parsed.value, { mode: 'strict' }) : undefined
  if (read?.ok) return read.value
  naming.repair(toConversionChange('arguments_wrapped'))
  return { _raw: toWellFormed(text) }
}

export interface UseOutcome {
  readonly result: ToolUseResult
  /** The result was inserted because the program requires one. */
  readonly isSynthetic: boolean
}

export function toUseOutcome({ call, use: { id } }: WrittenToolUse, naming: UseNaming): UseOutcome {
  const { result } = call
  if (result) {
    const content = [toResultBlock(result, naming)]
    return { result: { tool_use_id: id, content, status: statusOf(result.tool) }, isSynthetic: false }
  }
  naming.repair(toConversionChange('call_cancelled'))
  return { result: { tool_use_id: id, content: [{ Text: TOOL_USE_CANCELLED }], status: 'Error' }, isSynthetic: true }
}

function statusOf({ status, source_status }: ToolCall): ToolResultStatus {
  if (source_status === 'Success' || source_status === 'Error') return source_status
  return status === 'success' || status === 'pending' ? 'Success' : 'Error'
}

function toResultBlock({ tool, message }: ReplayResult, naming: UseNaming): ToolUseResultBlock {
  const text = toWellFormed(tool.output ?? '')
  const fits = byteLength(text) <= MAX_TOOL_RESPONSE_SIZE
  // A source that names the blocks stored the value itself, not its text.
  if (fits && isSameJson(message.metadata?.blocks, ['Json'])) {
    const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
    const read = parsed.ok ? readValueAs(freeJson, parsed.value, { mode: 'strict' }) : undefined
    if (read?.ok) return { Json: read.value }
  }
  if (fits) return { Text: text }
  naming.loss(toConversionChange('result_cut'))
  return { Text: truncateSafeInPlace(text, MAX_TOOL_RESPONSE_SIZE) }
}

export interface UserInput {
  readonly user: UserMessage
  /** Ids of inserted results. */
  readonly synthetic: readonly string[]
  /** Results together with a prompt can only be stored as a cancellation. Marks that nothing was cancelled. */
  readonly notCancelled: boolean
}

export class PendingInput {
  readonly #naming: UseNaming
  readonly #cwd: string | undefined
  #contexts: string[] = []
  #prompts: string[] = []
  #images: ImageBlock[] = []
  #first: NormalizedMessage | undefined
  #nativeMessage: UserMessage | undefined
  /** True if nothing collected was sent yet. */
  isPending = true

  constructor(naming: UseNaming, cwd: string | undefined) {
    this.#naming = naming
    this.#cwd = cwd
  }

  /** True if there is nothing to send. Instructions alone wait for a message to join. */
  get isEmpty(): boolean {
    return this.#prompts.length === 0 && !this.#nativeMessage
  }

  get hasContext(): boolean {
    return this.#contexts.length > 0
  }

  /** A message in the program's own format, written unchanged and alone. */
  get nativeMessage(): UserMessage | undefined {
    return this.#nativeMessage
  }

  setNativeMessage(user: UserMessage): void {
    this.#nativeMessage = user
  }

  addInstruction(message: NormalizedMessage): void {
    const texts = [...textsOfMessage(message), ...attachmentsOf(message).map(attachmentNote)]
    if (texts.length > 0) this.#contexts.push(texts.join('\n\n'))
    this.#addImages(message.segments, (note) => this.#contexts.push(note))
  }

  addPrompt(message: NormalizedMessage, isPending: boolean): void {
    const texts = [...textsOfMessage(message), ...attachmentsOf(message).map(attachmentNote)]
    this.#addImages(message.segments, (note) => texts.push(note))
    this.#take(message, texts.join('\n\n'), isPending)
  }

  /** The program rejects a result without its call, so it becomes text. */
  addOrphan(step: OrphanStep): void {
    const { message, isPending } = step.result
    this.#naming.repair(toConversionChange('result_in_words'))
    const texts = [orphanText(step)]
    this.#addImages(message.segments, (note) => texts.push(note))
    this.#take(message, texts.join('\n\n'), isPending)
  }

  /** Returns the message to the model and starts over. */
  takeMessage(uses: readonly WrittenToolUse[]): UserInput {
    const nativeMessage = this.#nativeMessage
    this.#nativeMessage = undefined
    if (nativeMessage) return { user: nativeMessage, synthetic: [], notCancelled: false }
    for (const { call } of uses)
      if (call.result) this.#addImages(call.result.segments, (note) => this.#contexts.push(note))
    const outcomes = uses.map((use) => toUseOutcome(use, this.#naming))
    const results = outcomes.map(({ result }) => result)
    const synthetic = outcomes.flatMap(({ result, isSynthetic }) => (isSynthetic ? [result.tool_use_id] : []))
    const prompt = this.isEmpty ? null : this.#text()
    const isCancelled =
      uses.length > 0 && uses.every(({ call }) => !call.result || call.result.tool.status === 'cancelled')
    const content: UserMessageContent =
      uses.length === 0
        ? { Prompt: { prompt: prompt ?? '' } }
        : prompt !== null || isCancelled
          ? { CancelledToolUses: { prompt, tool_use_results: results } }
          : { ToolUseResults: { tool_use_results: results } }
    const first = this.#first
    const user: UserMessage = {
      additional_context: this.#context(),
      env_context: messageEnvironment(first, this.#cwd),
      content,
      timestamp: prompt !== null && first ? sourceTimestamp(first) : null,
      images: this.#images.length > 0 ? this.#images : null,
    }
    this.#contexts = []
    this.#prompts = []
    this.#images = []
    this.#first = undefined
    this.isPending = true
    return { user, synthetic, notCancelled: 'CancelledToolUses' in content && !isCancelled }
  }

  #take(message: NormalizedMessage, text: string, isPending: boolean): void {
    this.#first ??= message
    this.#prompts.push(text)
    this.isPending &&= isPending
  }

  #text(): string {
    const text = toWellFormed(this.#prompts.join('\n\n'))
    // The program trims prompts before sending them.
    if (trimWhiteSpace(text) === '') {
      this.#naming.repair(toConversionChange('prompt_empty', EMPTY_PROMPT))
      return EMPTY_PROMPT
    }
    return this.#cut(text, 'prompt_cut')
  }

  /** Uses the delimiters that the program puts around context. */
  #context(): string {
    const known = this.#contexts.map((text) => `${CONTEXT_ENTRY_START_HEADER}${text}\n${CONTEXT_ENTRY_END_HEADER}`)
    return this.#cut(toWellFormed(known.join('')), 'context_cut')
  }

  #cut(text: string, code: 'prompt_cut' | 'context_cut'): string {
    if (byteLength(text) <= MAX_USER_MESSAGE_SIZE) return text
    this.#naming.loss(toConversionChange(code))
    return truncateSafeInPlace(text, MAX_USER_MESSAGE_SIZE)
  }

  /** @param note called with a text for each image that cannot be stored */
  #addImages(segments: readonly MessageSegment[], note: (text: string) => void): void {
    for (const url of imageAddressesOf(segments)) {
      const image = this.#images.length < MAX_NUMBER_OF_IMAGES_PER_REQUEST ? imageBlockFromUrl(url) : undefined
      if (image) this.#images.push(image)
      else {
        this.#naming.loss(toConversionChange('image_unheld'))
        note(attachmentNote({ format: 'image', ...(!url.startsWith('data:') && { url }) }))
      }
    }
  }
}

/** The original spelling of the time, if the program can read it. */
function sourceTimestamp({ raw, timestamp, metadata }: NormalizedMessage): string | null {
  if (typeof raw.timestamp === 'string' && parseZonedTime(raw.timestamp)) return raw.timestamp
  return metadata?.timestamp_inferred ? null : timestamp
}

function messageEnvironment(message: NormalizedMessage | undefined, cwd: string | undefined): UserEnvContext {
  const env = message?.metadata?.env
  const known = env === undefined ? undefined : readValueAs(envState, env, { mode: 'strict' })
  if (known?.ok) return { env_state: known.value }
  if (cwd === undefined) return { env_state: null }
  const current_working_directory = truncateSafe(toWellFormed(cwd), MAX_CURRENT_WORKING_DIRECTORY_LEN)
  return { env_state: { operating_system: null, current_working_directory, environment_variables: [] } }
}

/** Images that the program stores: four formats, limited in number and size. */
const IMAGE_DATA_URI = /^data:image\/([a-z]+)(?:;[^,;]+)*;base64,/i

/** Undefined if the image cannot be stored. */
function imageBlockFromUrl(url: string): ImageBlock | undefined {
  const [head = '', extension = ''] = IMAGE_DATA_URI.exec(url) ?? []
  const format = imageFormatOf(extension)
  if (format === undefined) return undefined
  const bytes = Buffer.from(url.slice(head.length), 'base64')
  if (bytes.length === 0 || bytes.length > MAX_IMAGE_SIZE) return undefined
  return { format, source: { Bytes: Array.from(bytes) } }
}

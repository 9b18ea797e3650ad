/** What goes to the model before its next answer: instructions, prompts, images, results. */
import { wellFormed } from '../../lib/text.ts'
import type { MessageSegment, NormalizedMessage } from '../../model/normalized.ts'
import { change } from '../../model/replay/change.ts'
import { attachmentsIn, imagesIn, type Orphan, textsIn } from '../../model/replay/step.ts'
import { noteOf } from '../../model/replay/words.ts'
import { envState } from '../codec/message.ts'
import { readValueAs } from '../codec/read.ts'
import {
  CONTEXT_ENTRY_END_HEADER,
  CONTEXT_ENTRY_START_HEADER,
  EMPTY_PROMPT,
  MAX_CURRENT_WORKING_DIRECTORY_LEN,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_USER_MESSAGE_SIZE,
} from '../limits.ts'
import type { ImageBlock, UserEnvContext, UserMessage, UserMessageContent } from '../message.ts'
import { trimWhiteSpace } from '../render.ts'
import { parseMoment } from '../time.ts'
import { byteLength, truncateSafe, truncateSafeInPlace } from '../truncate.ts'
import { imageOf } from './images.ts'
import { type Naming, outcomeOf, type Use } from './uses.ts'

export interface UserSide {
  readonly user: UserMessage
  /** Ids of the results that nobody gave. */
  readonly made: readonly string[]
  /** Results and a prompt fit into one message only as a cancellation: it is none. */
  readonly notCancelled: boolean
}

export class Inflow {
  readonly #naming: Naming
  readonly #cwd: string | undefined
  #contexts: string[] = []
  #prompts: string[] = []
  #images: ImageBlock[] = []
  #first: NormalizedMessage | undefined
  #given: UserMessage | undefined
  /** All that came was not sent yet. */
  isPending = true

  constructor(naming: Naming, cwd: string | undefined) {
    this.#naming = naming
    this.#cwd = cwd
  }

  /** Nobody said anything to the model. Instructions alone wait for somebody who does. */
  get isSilent(): boolean {
    return this.#prompts.length === 0 && !this.#given
  }

  get hasContext(): boolean {
    return this.#contexts.length > 0
  }

  /** A message of the program's own, which goes as it is and alone. */
  get given(): UserMessage | undefined {
    return this.#given
  }

  give(user: UserMessage): void {
    this.#given = user
  }

  instruct(message: NormalizedMessage): void {
    const texts = [...textsIn(message), ...attachmentsIn(message).map(noteOf)]
    if (texts.length > 0) this.#contexts.push(texts.join('\n\n'))
    this.#show(message.segments, (note) => this.#contexts.push(note))
  }

  prompt(message: NormalizedMessage, isPending: boolean): void {
    const texts = [...textsIn(message), ...attachmentsIn(message).map(noteOf)]
    this.#show(message.segments, (note) => texts.push(note))
    this.#take(message, texts.join('\n\n'), isPending)
  }

  /** The program would refuse a result without its call: it is told in words. */
  orphan({ result }: Orphan): void {
    const { message, tool, isPending } = result
    this.#naming.repair(change('result_in_words'))
    const texts = [`[tool result ${tool.call_id ?? ''}]\n${tool.output ?? ''}`]
    this.#show(message.segments, (note) => texts.push(note))
    this.#take(message, texts.join('\n\n'), isPending)
  }

  /** The message to the model. Nothing is left behind. */
  close(uses: readonly Use[]): UserSide {
    const given = this.#given
    this.#given = undefined
    if (given) return { user: given, made: [], notCancelled: false }
    for (const { call } of uses) if (call.result) this.#show(call.result.segments, (note) => this.#contexts.push(note))
    const outcomes = uses.map((use) => outcomeOf(use, this.#naming))
    const results = outcomes.map(({ result }) => result)
    const made = outcomes.flatMap(({ result, isMade }) => (isMade ? [result.tool_use_id] : []))
    const prompt = this.isSilent ? null : this.#text()
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
      env_context: environmentOf(first, this.#cwd),
      content,
      timestamp: prompt !== null && first ? stampOf(first) : null,
      images: this.#images.length > 0 ? this.#images : null,
    }
    this.#contexts = []
    this.#prompts = []
    this.#images = []
    this.#first = undefined
    this.isPending = true
    return { user, made, notCancelled: 'CancelledToolUses' in content && !isCancelled }
  }

  #take(message: NormalizedMessage, text: string, isPending: boolean): void {
    this.#first ??= message
    this.#prompts.push(text)
    this.isPending &&= isPending
  }

  #text(): string {
    const text = wellFormed(this.#prompts.join('\n\n'))
    // The program sends a prompt without the space around it.
    if (trimWhiteSpace(text) === '') {
      this.#naming.repair(change('prompt_empty', EMPTY_PROMPT))
      return EMPTY_PROMPT
    }
    return this.#cut(text, 'prompt_cut')
  }

  /** In the program's own marks, which it puts around what it says beside the prompt. */
  #context(): string {
    const told = this.#contexts.map((text) => `${CONTEXT_ENTRY_START_HEADER}${text}\n${CONTEXT_ENTRY_END_HEADER}`)
    return this.#cut(wellFormed(told.join('')), 'context_cut')
  }

  #cut(text: string, code: 'prompt_cut' | 'context_cut'): string {
    if (byteLength(text) <= MAX_USER_MESSAGE_SIZE) return text
    this.#naming.loss(change(code))
    return truncateSafeInPlace(text, MAX_USER_MESSAGE_SIZE)
  }

  /** @param note takes in words what cannot be shown */
  #show(segments: readonly MessageSegment[], note: (text: string) => void): void {
    for (const url of imagesIn(segments)) {
      const image = this.#images.length < MAX_NUMBER_OF_IMAGES_PER_REQUEST ? imageOf(url) : undefined
      if (image) this.#images.push(image)
      else {
        this.#naming.loss(change('image_unheld'))
        note(noteOf({ format: 'image', ...(!url.startsWith('data:') && { url }) }))
      }
    }
  }
}

/** The source's own spelling where the program reads it. */
function stampOf({ raw, timestamp, metadata }: NormalizedMessage): string | null {
  if (typeof raw.timestamp === 'string' && parseMoment(raw.timestamp)) return raw.timestamp
  return metadata?.['timestamp_inferred'] === true ? null : timestamp
}

function environmentOf(message: NormalizedMessage | undefined, cwd: string | undefined): UserEnvContext {
  const env = message?.metadata?.['env']
  const told = env === undefined ? undefined : readValueAs(envState, env, { mode: 'strict' })
  if (told?.ok) return { env_state: told.value }
  if (cwd === undefined) return { env_state: null }
  const current_working_directory = truncateSafe(wellFormed(cwd), MAX_CURRENT_WORKING_DIRECTORY_LEN)
  return { env_state: { operating_system: null, current_working_directory, environment_variables: [] } }
}

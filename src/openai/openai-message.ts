/** The specification's class OpenAIMessage: a message whose content can grow. */

import { isSameJson } from '../lib/json/compare.ts'
import { isObject, parseStructure, toJsonText } from '../lib/unknown-values.ts'
import { AppError } from '../model/error.ts'
import { toMessageBody } from './check/shape-message.ts'
import { allTextOf, firstTextOf, toImagePart, toTextPart, withPart, withText } from './content.ts'
import { mimeOf, toBase64, toDataUri } from './media.ts'
import type { ChatMessage, Content, ImageDetail, MessageFields, Open, Role, ToolCall } from './message.ts'
import { type Profile, type ProfileName, profileOf } from './profile.ts'

/**
 * Keeps unknown keys as properties and in {@link toJSON}. Does not check or change its input; use `validate` to find
 * what a server would reject.
 *
 * @example
 * const message = new OpenAIMessage({ role: 'user', content: 'Please analyze this image:' })
 * message.addImageURL('http://example.com/image.jpg', 'high')
 */
export class OpenAIMessage {
  /** Empty if none was given. */
  declare role: Open<Role>
  /** A text, a list of parts, or nothing: an assistant may only call tools. */
  declare content?: Content | null
  /** The speaker. Not a field of the API today: `toBody` sends it as `name`, or not at all. */
  declare user?: string
  /** Calls by the assistant. */
  declare tool_calls?: readonly ToolCall[]
  /** Id of the call that this message answers, for the role `tool`. */
  declare tool_call_id?: string
  readonly [key: string]: unknown

  /** Values whose keys would hide a method. */
  readonly #hidden = new Map<string, unknown>()

  /** @param fields a key `text` is ignored, because it is computed */
  constructor(fields?: MessageFields | null) {
    for (const [key, value] of Object.entries(fields ?? {})) {
      if (key === 'text' || value === undefined) continue
      if (key in OpenAIMessage.prototype) this.#hidden.set(key, value)
      else Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true })
    }
    this.role ??= ''
  }

  /** Creates instructions. */
  static system(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'system', content })
  }

  /** Creates instructions for models that know the role `developer`. */
  static developer(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'developer', content })
  }

  /** Creates a prompt. */
  static user(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'user', content })
  }

  /**
   * Creates an answer.
   * @param toolCalls with calls, the content may be null
   */
  static assistant(content: Content | null, toolCalls?: readonly ToolCall[]): OpenAIMessage {
    return new OpenAIMessage({ role: 'assistant', content, ...(toolCalls && { tool_calls: toolCalls }) })
  }

  /**
   * Creates the answer to a call.
   * @param toolCallId id of the call, exactly as in the call
   */
  static tool(toolCallId: string, content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'tool', tool_call_id: toolCallId, content })
  }

  /**
   * Creates the answer to a call. A string is used unchanged, undefined becomes an empty text, anything else becomes
   * JSON.
   *
   * @example
   * OpenAIMessage.toolResult(call, { tables: ['people', 'places'] })
   */
  static toolResult(call: { readonly id: string }, value: unknown): OpenAIMessage {
    return OpenAIMessage.tool(call.id, typeof value === 'string' ? value : value === undefined ? '' : toJsonText(value))
  }

  /**
   * Throws `bad_usage` if the value is not an object.
   * @param json JSON text of a message, or its parsed form
   */
  static fromJSON(json: unknown): OpenAIMessage {
    const value = typeof json === 'string' ? parseStructure(json) : json
    if (!isObject(value))
      throw new AppError(
        'bad_usage',
        'Not a message. A message is a JSON object with a role.',
        'メッセージではありません。メッセージはロールを持つ JSON オブジェクトです。',
      )
    return new OpenAIMessage(value as MessageFields)
  }

  /** The text content, or the first text part; empty if there is none. The setter keeps other parts. */
  get text(): string {
    return firstTextOf(this.content)
  }

  set text(text: string) {
    this.content = withText(this.content, text)
  }

  /** All text parts and refusals, concatenated. */
  get allText(): string {
    return allTextOf(this.content)
  }

  /** Adds a text part. Without content, the message gets a plain text. */
  addText(text: string): this {
    this.content = this.content ? withPart(this.content, toTextPart(text)) : text
    return this
  }

  /**
   * Adds an image. A text content becomes a list first.
   * @param detail unknown values are ignored
   */
  addImageURL(url: string, detail?: Open<ImageDetail>): this {
    this.content = withPart(this.content, toImagePart(url, detail))
    return this
  }

  /**
   * Adds an image as a data URI. Detects the type by the bytes; throws `bad_usage` unless it is png, jpeg, gif or webp.
   */
  addImageFile(bytes: Uint8Array, detail?: Open<ImageDetail>): this {
    const mime = mimeOf(bytes)
    if (!mime?.startsWith('image/'))
      throw new AppError(
        'bad_usage',
        'Not a PNG, JPEG, GIF or WebP image.',
        'PNG、JPEG、GIF、WebP のどの画像でもありません。',
      )
    return this.addImageURL(toDataUri(bytes, mime), detail)
  }

  /** Adds an uploaded file by its id. A text content becomes a list first. */
  addFileId(fileId: string): this {
    this.content = withPart(this.content, { type: 'file', file: { file_id: fileId } })
    return this
  }

  /**
   * Adds a file inline.
   * @param data bytes, or a data URI
   */
  addFileData(filename: string, data: Uint8Array | string): this {
    const file_data = typeof data === 'string' ? data : toDataUri(data, mimeOf(data) ?? 'application/octet-stream')
    this.content = withPart(this.content, { type: 'file', file: { filename, file_data } })
    return this
  }

  /** Adds audio. Detects the format by the bytes; throws `bad_usage` unless it is wav or mp3. */
  addAudio(bytes: Uint8Array): this {
    const format = ({ 'audio/wav': 'wav', 'audio/mpeg': 'mp3' } as const)[mimeOf(bytes) ?? '']
    if (!format) throw new AppError('bad_usage', 'Not WAV or MP3 audio.', 'WAV でも MP3 でもありません。')
    this.content = withPart(this.content, { type: 'input_audio', input_audio: { data: toBase64(bytes), format } })
    return this
  }

  /** Whether the message has exactly this role. */
  is(role: Role): boolean {
    return this.role === role
  }

  /** Whether to run tools. Do not use the finish reason, which servers set inconsistently. */
  hasToolCalls(): this is this & { readonly tool_calls: readonly ToolCall[] } {
    return Array.isArray(this.tool_calls) && this.tool_calls.length > 0
  }

  /** Returns an independent copy. */
  clone(): OpenAIMessage {
    return new OpenAIMessage(structuredClone(this.toJSON()))
  }

  /** Whether both messages have equal fields, in any order. */
  equals(other: OpenAIMessage | MessageFields): boolean {
    return isSameJson(this.toJSON(), (other instanceof OpenAIMessage ? other : new OpenAIMessage(other)).toJSON())
  }

  /** All fields, including unknown ones, except undefined values and a role that was never set. */
  toJSON(): MessageFields {
    const fields = [...Object.entries(this), ...this.#hidden]
    return Object.fromEntries(fields.filter(([key, value]) => value !== undefined && (key !== 'role' || value !== '')))
  }

  /**
   * The message as sent to the server: only accepted fields, `user` as `name` or not at all, files in nested form. Use
   * `repair` for problems that concern several messages.
   */
  toBody(profile: ProfileName | Profile = 'openai'): ChatMessage {
    return toMessageBody(this.toJSON(), profileOf(profile)) as unknown as ChatMessage
  }
}

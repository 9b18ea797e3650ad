/** OpenAIMessage as library users know it from the specification: a message whose content can grow. */

import { isSameJson } from '../lib/json/compare.ts'
import { isObject, parseStructure, toJsonText } from '../lib/unknown-values.ts'
import { AppError } from '../model/error.ts'
import { toMessageBody } from './check/shape-message.ts'
import { allTextOf, firstTextOf, toImagePart, toTextPart, withPart, withText } from './content.ts'
import { mimeOf, toBase64, toDataUri } from './media.ts'
import type { ChatMessage, Content, ImageDetail, MessageFields, Open, Role, ToolCall } from './message.ts'
import { type Profile, type ProfileName, profileOf } from './profile.ts'

/**
 * Role, content and what else the message was made with: unknown keys stay, as properties and in {@link toJSON}. What it
 * was made with is not checked and never changed; `validate` says what a server would refuse.
 *
 * @example
 * const message = new OpenAIMessage({ role: 'user', content: 'Please analyze this image:' })
 * message.addImageURL('http://example.com/image.jpg', 'high')
 */
export class OpenAIMessage {
  /** Empty where none was given. */
  declare role: Open<Role>
  /** A text, a list of parts, or nothing: an assistant that only calls tools says nothing. */
  declare content?: Content | null
  /** Who speaks. No field of the API's messages today: `toBody` sends it as `name`, or not at all. */
  declare user?: string
  /** What the assistant asks for. */
  declare tool_calls?: readonly ToolCall[]
  /** The id of the call that this message answers; for the role `tool`. */
  declare tool_call_id?: string
  readonly [key: string]: unknown

  /** Keys that would hide a method; they are data all the same. */
  readonly #hidden = new Map<string, unknown>()

  /** @param fields a key `text` is passed over, because it is computed */
  constructor(fields?: MessageFields | null) {
    for (const [key, value] of Object.entries(fields ?? {})) {
      if (key === 'text' || value === undefined) continue
      if (key in OpenAIMessage.prototype) this.#hidden.set(key, value)
      else Object.defineProperty(this, key, { value, writable: true, enumerable: true, configurable: true })
    }
    this.role ??= ''
  }

  /** Instructions. */
  static system(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'system', content })
  }

  /** Instructions, for models that know developers. */
  static developer(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'developer', content })
  }

  /** What a person says. */
  static user(content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'user', content })
  }

  /**
   * What the model says.
   * @param toolCalls with them the content may be null: the assistant says nothing and calls
   */
  static assistant(content: Content | null, toolCalls?: readonly ToolCall[]): OpenAIMessage {
    return new OpenAIMessage({ role: 'assistant', content, ...(toolCalls && { tool_calls: toolCalls }) })
  }

  /**
   * The answer to a call, by its id.
   * @param toolCallId the id of the answered call, to the letter
   */
  static tool(toolCallId: string, content: Content): OpenAIMessage {
    return new OpenAIMessage({ role: 'tool', tool_call_id: toolCallId, content })
  }

  /**
   * The answer to a call. A text goes as it is, nothing as an empty text, anything else as JSON.
   *
   * @example
   * OpenAIMessage.toolResult(call, { tables: ['people', 'places'] })
   */
  static toolResult(call: { readonly id: string }, value: unknown): OpenAIMessage {
    return OpenAIMessage.tool(call.id, typeof value === 'string' ? value : value === undefined ? '' : toJsonText(value))
  }

  /**
   * A message from JSON. Throws `bad_usage` where it is no object.
   * @param json the text of a message or its parsed form
   */
  static fromJSON(json: unknown): OpenAIMessage {
    const value = typeof json === 'string' ? parseStructure(json) : json
    if (!isObject(value))
      throw new AppError(
        'bad_usage',
        'this is no message: a message is a JSON object with a role',
        'メッセージではありません。メッセージはロールを持つ JSON オブジェクトです。',
      )
    return new OpenAIMessage(value as MessageFields)
  }

  /** The content where it is a text, else the first text part's; empty where there is none. Setting it leaves other parts. */
  get text(): string {
    return firstTextOf(this.content)
  }

  set text(text: string) {
    this.content = withText(this.content, text)
  }

  /** All text parts and refusals, one after the other. */
  get allText(): string {
    return allTextOf(this.content)
  }

  /** Adds a text part. A message without content becomes a plain text. */
  addText(text: string): this {
    this.content = this.content ? withPart(this.content, toTextPart(text)) : text
    return this
  }

  /**
   * Adds an image. Content that is a text becomes a list first.
   * @param detail any other word is passed over
   */
  addImageURL(url: string, detail?: Open<ImageDetail>): this {
    this.content = withPart(this.content, toImagePart(url, detail))
    return this
  }

  /** Adds an image as a data URI, its type told by its bytes. Throws `bad_usage` where they are no png, jpeg, gif or webp. */
  addImageFile(bytes: Uint8Array, detail?: Open<ImageDetail>): this {
    const mime = mimeOf(bytes)
    if (!mime?.startsWith('image/'))
      throw new AppError(
        'bad_usage',
        'these bytes are no png, jpeg, gif or webp image',
        'PNG、JPEG、GIF、WebP のどの画像でもありません。',
      )
    return this.addImageURL(toDataUri(bytes, mime), detail)
  }

  /** Adds an uploaded file by its id. Content that is a text becomes a list first. */
  addFileId(fileId: string): this {
    this.content = withPart(this.content, { type: 'file', file: { file_id: fileId } })
    return this
  }

  /**
   * Adds a file itself.
   * @param data bytes, or a data URI that was made before
   */
  addFileData(filename: string, data: Uint8Array | string): this {
    const file_data = typeof data === 'string' ? data : toDataUri(data, mimeOf(data) ?? 'application/octet-stream')
    this.content = withPart(this.content, { type: 'file', file: { filename, file_data } })
    return this
  }

  /** Adds a sound, its format told by its bytes. Throws `bad_usage` where they are neither wav nor mp3. */
  addAudio(bytes: Uint8Array): this {
    const format = ({ 'audio/wav': 'wav', 'audio/mpeg': 'mp3' } as const)[mimeOf(bytes) ?? '']
    if (!format) throw new AppError('bad_usage', 'these bytes are neither wav nor mp3', 'WAV でも MP3 でもありません。')
    this.content = withPart(this.content, { type: 'input_audio', input_audio: { data: toBase64(bytes), format } })
    return this
  }

  /** Whether it is of this role, to the letter. */
  is(role: Role): boolean {
    return this.role === role
  }

  /** What decides whether tools are to be run: servers give all kinds of finish reasons. */
  hasToolCalls(): this is this & { readonly tool_calls: readonly ToolCall[] } {
    return Array.isArray(this.tool_calls) && this.tool_calls.length > 0
  }

  /** A message of its own: changing either leaves the other. */
  clone(): OpenAIMessage {
    return new OpenAIMessage(structuredClone(this.toJSON()))
  }

  /** Whether both say the same; the order of keys does not count. */
  equals(other: OpenAIMessage | MessageFields): boolean {
    return isSameJson(this.toJSON(), (other instanceof OpenAIMessage ? other : new OpenAIMessage(other)).toJSON())
  }

  /** Every field, known or not, but those that are undefined and a role that was never given. */
  toJSON(): MessageFields {
    const fields = [...Object.entries(this), ...this.#hidden]
    return Object.fromEntries(fields.filter(([key, value]) => value !== undefined && (key !== 'role' || value !== '')))
  }

  /**
   * The message as a request to the server holds it: only fields that it takes, `user` as `name` or not at all, files in
   * the nested form. What a message owes to its neighbours, `repair` sees to.
   */
  toBody(profile: ProfileName | Profile = 'openai'): ChatMessage {
    return toMessageBody(this.toJSON(), profileOf(profile)) as unknown as ChatMessage
  }
}

/** Messages of chat completions. The types are the JSON itself, field for field. */

/** Roles of chat completions. `function` is the obsolete form of `tool`. */
export type Role = 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'

/** A closed set for the API. Foreign messages may contain other values. */
export type Open<T extends string> = T | (string & Record<never, never>)

/** Resolution at which a model looks at an image. Only the Responses API knows `original`. */
export type ImageDetail = 'auto' | 'low' | 'high' | 'original'

/** Text. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** An image; only in messages of a user. */
export interface ImagePart {
  readonly type: 'image_url'
  /** URL of the image, or the image as a data URI. */
  readonly image_url: { readonly url: string; readonly detail?: ImageDetail }
}

/** Audio. */
export interface AudioPart {
  readonly type: 'input_audio'
  /** The data is base64. */
  readonly input_audio: { readonly data: string; readonly format: 'wav' | 'mp3' }
}

/** A document, uploaded or inline. */
export interface FilePart {
  readonly type: 'file'
  readonly file: {
    /** Id of an uploaded file. */
    readonly file_id?: string
    /** The file as a data URI. */
    readonly file_data?: string
    readonly filename?: string
  }
}

/** The form of a file in the specification. Accepted as input, but sent as a {@link FilePart}. */
export interface FlatFilePart {
  readonly type: 'file'
  readonly file_id: string
}

/** Why an assistant refuses to answer; only in its own messages. */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}

/** One element of a message's content. */
export type ContentPart = TextPart | ImagePart | AudioPart | FilePart | FlatFilePart | RefusalPart

/** Content of a message. */
export type Content = string | readonly ContentPart[]

/** Call of a tool with named arguments. */
export interface FunctionToolCall {
  readonly id: string
  readonly type: 'function'
  /** The arguments are JSON text as the model wrote it, possibly incomplete or invalid. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** Call of a tool with a single text as input, such as a patch or a program. */
export interface CustomToolCall {
  readonly id: string
  readonly type: 'custom'
  readonly custom: { readonly name: string; readonly input: string }
}

/** A call by an assistant. */
export type ToolCall = FunctionToolCall | CustomToolCall

/** Instructions. Newer OpenAI models use the role `developer`. */
export interface SystemMessage {
  readonly role: 'system' | 'developer'
  readonly content: string | readonly TextPart[]
  readonly name?: string
}

/** A prompt of a person. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string | readonly (TextPart | ImagePart | AudioPart | FilePart)[]
  readonly name?: string
}

/** An answer of the model, with the tools it calls. */
export interface AssistantMessage {
  readonly role: 'assistant'
  /** May be missing or null if there are tool calls. */
  readonly content?: string | readonly (TextPart | RefusalPart)[] | null
  readonly name?: string
  readonly refusal?: string | null
  readonly audio?: { readonly id: string } | null
  readonly tool_calls?: readonly ToolCall[]
  readonly function_call?: { readonly name: string; readonly arguments: string } | null
}

/** The result of one call. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly content: string | readonly TextPart[]
  /** Id of the call that this message answers, exactly as in the call. */
  readonly tool_call_id: string
}

/** The obsolete form of {@link ToolMessage}. */
export interface FunctionMessage {
  readonly role: 'function'
  readonly name: string
  readonly content: string | null
}

/** A message as the API accepts it. */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage

/** A message as input: every field may be missing, and there may be others. */
export interface MessageFields {
  readonly role?: Open<Role>
  readonly content?: Content | null
  /** The speaker. Not a field of the API today: sent as `name`, or not at all. */
  readonly user?: string
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_id?: string
  readonly [key: string]: unknown
}

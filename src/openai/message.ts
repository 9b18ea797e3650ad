/** The messages of a chat completion. The types are the JSON itself, field for field. */

/** The roles that chat completions know. `function` is the old form of `tool`. */
export type Role = 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'

/** A closed set for the API; foreign messages may hold others. */
export type Open<T extends string> = T | (string & Record<never, never>)

/** How closely a model looks at an image. `original` is known to the Responses API only. */
export type ImageDetail = 'auto' | 'low' | 'high' | 'original'

/** Words. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** Something to look at; only a user shows images. */
export interface ImagePart {
  readonly type: 'image_url'
  /** The URL of the image, or the image itself as a data URI. */
  readonly image_url: { readonly url: string; readonly detail?: ImageDetail }
}

/** Something to listen to. */
export interface AudioPart {
  readonly type: 'input_audio'
  /** The data is base64. */
  readonly input_audio: { readonly data: string; readonly format: 'wav' | 'mp3' }
}

/** A document: uploaded before, or sent along. */
export interface FilePart {
  readonly type: 'file'
  readonly file: {
    /** Of an uploaded file. */
    readonly file_id?: string
    /** The file itself as a data URI. */
    readonly file_data?: string
    readonly filename?: string
  }
}

/** The form in which the specification shows a file. It is read; what is sent is a {@link FilePart}. */
export interface FlatFilePart {
  readonly type: 'file'
  readonly file_id: string
}

/** Why an assistant does not answer; in its own messages only. */
export interface RefusalPart {
  readonly type: 'refusal'
  readonly refusal: string
}

/** One element of a message's content. */
export type ContentPart = TextPart | ImagePart | AudioPart | FilePart | FlatFilePart | RefusalPart

/** What a message says. */
export type Content = string | readonly ContentPart[]

/** A call of a tool that takes arguments by name. */
export interface FunctionToolCall {
  readonly id: string
  readonly type: 'function'
  /** The arguments are JSON text, as the model wrote it: not always whole, not always valid. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A call of a tool that takes one text: a patch, a program. */
export interface CustomToolCall {
  readonly id: string
  readonly type: 'custom'
  readonly custom: { readonly name: string; readonly input: string }
}

/** What an assistant asks a tool for. */
export type ToolCall = FunctionToolCall | CustomToolCall

/** Instructions. Newer models of OpenAI call who gives them `developer`. */
export interface SystemMessage {
  readonly role: 'system' | 'developer'
  readonly content: string | readonly TextPart[]
  readonly name?: string
}

/** What a person says and shows. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: string | readonly (TextPart | ImagePart | AudioPart | FilePart)[]
  readonly name?: string
}

/** What the model says, and which tools it calls. */
export interface AssistantMessage {
  readonly role: 'assistant'
  /** May be missing or null where there are tool calls. */
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
  /** The id of the call that this message answers, to the letter. */
  readonly tool_call_id: string
}

/** The old form of {@link ToolMessage}. */
export interface FunctionMessage {
  readonly role: 'function'
  readonly name: string
  readonly content: string | null
}

/** A message as the API takes it. */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage

/** A message as it may be given to us or found somewhere: every field may be missing, and others may be there. */
export interface MessageFields {
  readonly role?: Open<Role>
  readonly content?: Content | null
  /** Who speaks. No field of the API's messages today: sent as `name`, or not at all. */
  readonly user?: string
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_id?: string
  readonly [key: string]: unknown
}

/** A request of the conversation model, as the messages that an OpenAI-compatible server takes. */
import { CONTEXT_ENTRY_END_HEADER, CONTEXT_ENTRY_START_HEADER, DUMMY_TOOL_NAME } from '../../conversation/limits.ts'
import type { EnvState, ImageBlock, ToolUseResult } from '../../conversation/message.ts'
import type { AssistantResponseMessage, Sendable, UserInputMessage } from '../../conversation/request/send.ts'
import { writeBlock } from '../../conversation/truncate.ts'
import { plainJson } from '../../lib/json/lossless.ts'
import { writeJson } from '../../lib/json/write.ts'
import { toImagePart, toTextPart } from '../../openai/content.ts'
import { mimeOf, toDataUri } from '../../openai/media.ts'
import type { ContentPart, FilePart } from '../../openai/message.ts'
import { OpenAIMessage } from '../../openai/openai-message.ts'
import { OpenAITool } from '../../openai/openai-tool.ts'
import type { Profile } from '../../openai/profile.ts'

export interface RenderOptions {
  readonly profile: Profile
  /** Whether the request begins with the pair in which the context is sent. */
  readonly hasContext: boolean
  /** Documents that belong to the current message. */
  readonly documents?: readonly FilePart[]
}

export interface RenderedRequest {
  readonly messages: readonly OpenAIMessage[]
  readonly tools: readonly OpenAITool[]
  /** Images and documents that the server does not take. */
  readonly omitted: number
}

/** Context pair, history, current message. Operating system and directory go into the context. */
export function renderOpenAIMessages(
  request: Sendable,
  { profile, hasContext, documents = [] }: RenderOptions,
): RenderedRequest {
  const builder = new MessageBuilder(profile)
  const { user_input_message: current, history } = request
  const environment = environmentBlock(current.user_input_message_context.env_state)
  if (!hasContext && environment !== '') {
    builder.push(OpenAIMessage.user(environment.trimEnd()))
    builder.push(OpenAIMessage.assistant(ACKNOWLEDGEMENT))
  }
  for (const [at, sent] of history.entries()) {
    if (sent.kind === 'assistant') builder.assistant(sent.message)
    else if (at === 0 && hasContext) builder.user({ ...sent.message, content: environment + sent.message.content })
    else builder.user(sent.message)
  }
  builder.user(current, documents)
  const { tools } = current.user_input_message_context
  return { messages: builder.messages, tools: (tools ?? []).flatMap(toOpenAITools), omitted: builder.omitted }
}

const ACKNOWLEDGEMENT = 'Understood.'

function environmentBlock(env: EnvState | null): string {
  const lines = [
    ...(env?.operating_system ? [`Operating system: ${env.operating_system}\n`] : []),
    ...(env?.current_working_directory ? [`Current working directory: ${env.current_working_directory}\n`] : []),
  ]
  return lines.length === 0 ? '' : `${CONTEXT_ENTRY_START_HEADER}${lines.join('')}${CONTEXT_ENTRY_END_HEADER}`
}

/** The stand-in for tools that are gone is named in the history and never offered. */
function toOpenAITools({
  ToolSpecification: { name, description, input_schema },
}: OfferedToolSpec): readonly OpenAITool[] {
  if (name === DUMMY_TOOL_NAME) return []
  const parameters = (plainJson(input_schema.json) ?? { type: 'object', properties: {} }) as object
  return [new OpenAITool({ name, description, parameters })]
}

type OfferedToolSpec = NonNullable<UserInputMessage['user_input_message_context']['tools']>[number]

class MessageBuilder {
  readonly messages: OpenAIMessage[] = []
  readonly #profile: Profile
  omitted = 0

  constructor(profile: Profile) {
    this.#profile = profile
  }

  push(message: OpenAIMessage): void {
    this.messages.push(message)
  }

  assistant({ content, tool_uses }: AssistantResponseMessage): void {
    const calls = (tool_uses ?? []).map(({ tool_use_id, name, input }) => ({
      id: tool_use_id,
      type: 'function' as const,
      function: { name, arguments: writeJson(input) },
    }))
    if (calls.length === 0) this.push(OpenAIMessage.assistant(content))
    else this.push(OpenAIMessage.assistant(content === '' ? null : content, calls))
  }

  /** Results first, each as a message of its own; what was said or shown with them follows. */
  user({ content, images, user_input_message_context }: UserInputMessage, documents: readonly FilePart[] = []): void {
    const results = user_input_message_context.tool_results ?? []
    for (const result of results) this.push(OpenAIMessage.tool(result.tool_use_id, toolResultText(result)))
    const parts = [...this.#imageParts(images ?? []), ...this.#documentParts(documents)]
    if (parts.length > 0) this.push(OpenAIMessage.user([...(content === '' ? [] : [toTextPart(content)]), ...parts]))
    else if (content !== '' || results.length === 0) this.push(OpenAIMessage.user(content))
  }

  #imageParts(images: readonly ImageBlock[]): readonly ContentPart[] {
    const { parts, images: takes } = this.#profile
    return images.flatMap(({ source }) => {
      const bytes = source === 'Unknown' || !('Bytes' in source) ? undefined : Uint8Array.from(source.Bytes)
      const mime = bytes && mimeOf(bytes)
      const isTaken = mime && parts.user.includes('image_url') && takesType(takes.types, mime)
      if (bytes && isTaken) return [toImagePart(toDataUri(bytes, mime))]
      this.omitted++
      return []
    })
  }

  #documentParts(documents: readonly FilePart[]): readonly ContentPart[] {
    if (this.#profile.parts.user.includes('file')) return documents
    this.omitted += documents.length
    return []
  }
}

const takesType = (types: readonly string[] | undefined, mime: string): boolean =>
  types === undefined || types.includes(mime.replace(/^image\//, ''))

/** A status of Error has no other place than the text. */
export function toolResultText({ content, status }: ToolUseResult): string {
  const text = content.map((block) => writeBlock(block, () => {}) ?? '').join('\n')
  return status === 'Error' ? `Error: ${text}` : text
}

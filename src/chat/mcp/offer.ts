/** Converts what an MCP server offers: tool names, tool results, prompts. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { IMAGES_SUPPLIED } from '../../conversation/limits.ts'
import type { ImageBlock, ImageFormat } from '../../conversation/message.ts'
import { truncateSafe } from '../../conversation/message-text.ts'
import type { JsonValue } from '../../lib/json/lossless.ts'
import { type Fields, fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { byteLength } from '../../model/token-estimate.ts'
import type { ToolRunResult } from '../tools/tool.ts'
import {
  MAX_TOOL_DESCRIPTION_BYTES,
  MAX_TOOL_NAME_BYTES,
  mcpErrorReason,
  type RemotePrompt,
  type RemoteResource,
} from './connect.ts'

interface OfferedTool {
  readonly name: string
  readonly description: string
}

/** Returns a phrase if the tool cannot be offered to the model. */
export function offerTool(
  host: { readonly name: string; readonly description: string },
  alias: string | undefined,
  taken: ReadonlySet<string>,
): OfferedTool | Phrase {
  const name = alias ?? toModelName(host.name, taken)
  if (byteLength(name) > MAX_TOOL_NAME_BYTES)
    return phrase(
      `its name is longer than ${MAX_TOOL_NAME_BYTES} bytes. Give it an alias`,
      `名前が ${MAX_TOOL_NAME_BYTES} バイトを超えています。別名を付けてください`,
    )
  if (host.description.trim() === '') return phrase('it has no description', '説明がありません')
  return { name, description: truncateSafe(host.description, MAX_TOOL_DESCRIPTION_BYTES) }
}

/** The server's own name if models accept it, else the characters that they accept. */
export function toModelName(host: string, taken: ReadonlySet<string>): string {
  const name = VALID_NAME.test(host) ? host : toValidName(host)
  return name !== host && taken.has(name) ? `${name}1` : name
}

const VALID_NAME = /^[a-zA-Z][a-zA-Z0-9_]*$/

function toValidName(host: string): string {
  const valid = host.replaceAll(/[^a-zA-Z0-9_]/g, '').replaceAll('___', '')
  if (valid === '') return `a${String(checksumOf(host) % 1000).padStart(3, '0')}`
  return /^[a-zA-Z]/.test(valid) ? valid : `a${valid}`
}

/** Deterministic. */
function checksumOf(text: string): number {
  let sum = 0
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return sum
}

const IMAGE_FORMATS: { readonly [type: string]: ImageFormat } = {
  'image/gif': 'Gif',
  'image/jpeg': 'Jpeg',
  'image/jpg': 'Jpeg',
  'image/png': 'Png',
  'image/webp': 'Webp',
}

/** The complete answer as JSON. If it contains images: its texts, and the images separately. */
export function toToolRunResult(answer: Fields): ToolRunResult {
  const blocks = listOf(answer['content']).map((block) => fieldsOf(block) ?? {})
  const images = blocks.flatMap((block) => toImageBlock(block) ?? [])
  const status = answer['isError'] === true ? 'Error' : 'Success'
  if (images.length === 0) return { status, content: [{ Json: answer as JsonValue }], images, changedFiles: [] }
  const texts = blocks.filter((block) => !toImageBlock(block)).map((block) => ({ Text: blockText(block) }))
  return { status, content: [...texts, { Text: IMAGES_SUPPLIED }], images, changedFiles: [] }
}

function toImageBlock(block: Fields): ImageBlock | undefined {
  if (block['type'] !== 'image') return undefined
  const type = stringOf(block['mimeType'])?.toLowerCase() ?? ''
  const format = Object.hasOwn(IMAGE_FORMATS, type) ? IMAGE_FORMATS[type] : undefined
  const data = stringOf(block['data'])
  if (format === undefined || data === undefined) return undefined
  return { format, source: { Bytes: Array.from(Buffer.from(data, 'base64')) } }
}

const blockText = (block: Fields): string => stringOf(block['text']) ?? JSON.stringify(block)

export interface ServerPrompt extends RemotePrompt {
  readonly server: string
  /** Returns a phrase if the prompt is unavailable. Never rejects. */
  get(values: PromptValues, signal: AbortSignal): Promise<PromptContent | Phrase>
}

type PromptValues = { readonly [argument: string]: string }

/** Earlier exchanges, and the message that follows them. */
export interface PromptContent {
  readonly before: readonly { readonly user: string; readonly assistant: string }[]
  readonly text: string
  readonly images: readonly ImageBlock[]
}

export function createServerPrompt(
  server: string,
  prompt: RemotePrompt,
  client: Client,
  timeout: number,
): ServerPrompt {
  return {
    ...prompt,
    server,
    async get(values, signal) {
      try {
        const { messages } = await client.getPrompt({ name: prompt.name, arguments: values }, { signal, timeout })
        return parsePromptMessages(messages.map((message) => fieldsOf(message) ?? {}))
      } catch (error) {
        return mcpErrorReason(error)
      }
    },
  }
}

/** Something that a server lets users read: a page, a file, a row. Named `@server:uri`. */
export interface ServerResource extends RemoteResource {
  readonly server: string
  /** Returns a phrase if the resource is unavailable. Never rejects. */
  read(signal: AbortSignal): Promise<ResourceContent | Phrase>
}

export interface ResourceContent {
  readonly text: string
  readonly images: readonly ImageBlock[]
}

export function createServerResource(
  server: string,
  resource: RemoteResource,
  client: Client,
  timeout: number,
): ServerResource {
  return {
    ...resource,
    server,
    async read(signal) {
      try {
        const { contents } = await client.readResource({ uri: resource.uri }, { signal, timeout })
        return parseResource(contents.map((one) => fieldsOf(one) ?? {}))
      } catch (error) {
        return mcpErrorReason(error)
      }
    },
  }
}

function parseResource(contents: readonly Fields[]): ResourceContent | Phrase {
  const texts = contents.flatMap((one) => stringOf(one['text']) ?? [])
  const images = contents.flatMap((one) => toImageBlock({ ...one, type: 'image', data: one['blob'] }) ?? [])
  if (texts.length > 0 || images.length > 0) return { text: texts.join('\n\n'), images }
  return phrase('it is neither text nor an image', 'テキストでも画像でもありません')
}

export function parsePromptMessages(messages: readonly Fields[]): PromptContent | Phrase {
  const before: { user: string; assistant: string }[] = []
  let user: string[] = []
  let assistant: string[] = []
  const images: ImageBlock[] = []
  for (const { role, content } of messages) {
    const block = fieldsOf(content) ?? {}
    if (role === 'assistant') {
      assistant.push(promptBlockText(block))
      continue
    }
    if (assistant.length > 0) {
      before.push({ user: user.join('\n\n'), assistant: assistant.join('\n\n') })
      user = []
      assistant = []
    }
    const image = toImageBlock(block)
    if (image) images.push(image)
    else user.push(promptBlockText(block))
  }
  if (assistant.length > 0 || (user.length === 0 && images.length === 0))
    return phrase('it does not end with a question', '終わりに質問がありません')
  return { before, text: user.join('\n\n'), images }
}

/** The text of an embedded file; for other content, its type. */
function promptBlockText(block: Fields): string {
  const resource = fieldsOf(block['resource'])
  const text = stringOf(block['text']) ?? stringOf(resource?.['text'])
  if (text !== undefined) return text
  const uri = stringOf(block['uri']) ?? stringOf(resource?.['uri'])
  return uri ?? `(${stringOf(block['type']) ?? 'something'} that cannot be sent)`
}

/** Assigns words by position; the last argument gets the rest. */
export function assignPromptValues(
  prompt: Pick<RemotePrompt, 'arguments'>,
  words: readonly string[],
): { readonly values: PromptValues; readonly missing: readonly string[] } {
  const wanted = prompt.arguments
  const last = wanted.length - 1
  const given = wanted.map((_, at) => (at === last ? words.slice(last).join(' ') : (words[at] ?? '')))
  const missing = wanted.filter(({ required }, at) => required && given[at] === '').map(({ name }) => name)
  const values = Object.fromEntries(
    wanted.flatMap(({ name }, at) => (given[at] === '' ? [] : [[name, given[at] ?? '']])),
  )
  return { values, missing }
}

/** Texts that a server keeps to be said: what they are called, what they want to know, and what they say. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { ImageBlock } from '../../conversation/message.ts'
import { type Fields, fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { RemotePrompt } from './connect.ts'
import { mcpErrorReason } from './error-reason.ts'
import { toImageBlock } from './tool-result.ts'

export interface ServerPrompt extends RemotePrompt {
  readonly server: string
  /** A phrase says why it cannot be said. Never rejects. */
  get(values: PromptValues, signal: AbortSignal): Promise<PromptContent | Phrase>
}

export type PromptValues = { readonly [argument: string]: string }

/** Exchanges that are taken for granted, and what is said after them. */
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

/** Messages of one side that follow each other are one. */
export function parsePromptMessages(messages: readonly Fields[]): PromptContent | Phrase {
  const before: { user: string; assistant: string }[] = []
  let user: string[] = []
  let assistant: string[] = []
  const images: ImageBlock[] = []
  for (const { role, content } of messages) {
    const block = fieldsOf(content) ?? {}
    if (role === 'assistant') {
      assistant.push(blockText(block))
      continue
    }
    if (assistant.length > 0) {
      before.push({ user: user.join('\n\n'), assistant: assistant.join('\n\n') })
      user = []
      assistant = []
    }
    const image = toImageBlock(block)
    if (image) images.push(image)
    else user.push(blockText(block))
  }
  if (assistant.length > 0 || (user.length === 0 && images.length === 0))
    return phrase('there is no question at its end', '終わりに質問がありません')
  return { before, text: user.join('\n\n'), images }
}

/** A file that a server shows is its text; of all else, what it is. */
function blockText(block: Fields): string {
  const resource = fieldsOf(block['resource'])
  const text = stringOf(block['text']) ?? stringOf(resource?.['text'])
  if (text !== undefined) return text
  const uri = stringOf(block['uri']) ?? stringOf(resource?.['uri'])
  return uri ?? `(${stringOf(block['type']) ?? 'something'} that cannot be sent)`
}

/** Words by their place; all that is left over belongs to the last. */
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

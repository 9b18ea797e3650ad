/** What a line says once the text that it names stands in its place: one that a file keeps, or one of an MCP server. */
import type { ImageBlock } from '../../conversation/message.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { Words } from '../commands/command.ts'
import { type PromptWords, type ServerPrompt, valuesFor } from '../mcp/prompts.ts'
import type { Talk } from '../talk.ts'
import { calledIn, type KeptPrompt, keptPrompts, textAt, withWords } from './kept.ts'

export interface Spoken {
  readonly kind: 'spoken'
  readonly before: PromptWords['before']
  readonly text: string
  readonly images: readonly ImageBlock[]
  /** Whose words they are, where nobody typed them. */
  readonly source: string | null
  /** Whether files that it names go along. What a server says names no file of this machine. */
  readonly mayAttach: boolean
  /** The part that the user wrote himself: only that may name files outside of the project. */
  readonly typed: string
}

export type Unspoken = { readonly kind: 'error'; readonly said: Phrase }

const asTyped = (text: string, typed = text): Spoken => {
  return { kind: 'spoken', before: [], text, images: [], source: null, mayAttach: true, typed }
}

/** Files go before servers. A line that names no text is said as it is. @param typed what of it the user wrote himself */
export async function spokenIn(
  talk: Talk,
  line: string,
  signal: AbortSignal,
  typed = line,
): Promise<Spoken | Unspoken> {
  const called = calledIn(line)
  if (!called) return asTyped(line, typed)
  const kept = keptPrompts(talk).find(({ name }) => name === called.name)
  if (kept) {
    const text = withWords(textAt(kept.path), called.words)
    const own = kept.place === 'project' ? called.words : text
    return { ...asTyped(text, own), source: `@${kept.name} (${kept.place})` }
  }
  await talk.rig.help.ready()
  const offered = serversWith(talk, called.name)
  const [prompt] = offered
  if (!prompt) return asTyped(line, typed)
  if (offered.length > 1) {
    const names = offered.map(({ server, name }) => `@${server}/${name}`)
    const said = phrase(
      `several servers have a prompt ${called.name}: say ${names.join(' or ')}.`,
      `文章 ${called.name} は複数のサーバーにあります。${names.join(' か ')} と書いてください。`,
    )
    return { kind: 'error', said }
  }
  return fromServer(prompt, called.words, signal)
}

/** By its name alone, or with that of its server. */
const serversWith = ({ rig }: Talk, called: string): readonly ServerPrompt[] =>
  rig.help.prompts().filter(({ server, name }) => called === name || called === `${server}/${name}`)

async function fromServer(prompt: ServerPrompt, words: string, signal: AbortSignal): Promise<Spoken | Unspoken> {
  const { values, missing } = valuesFor(prompt, new Words(words).all)
  if (missing.length > 0) {
    const usage = usageOf(prompt)
    const why = phrase(
      `it wants ${missing.join(' and ')}: ${usage}`,
      `${missing.join(' と ')} を指定してください：${usage}`,
    )
    return { kind: 'error', said: why }
  }
  const said = await prompt.get(values, signal)
  if ('en' in said) {
    const { name, server } = prompt
    const why = phrase(
      `@${name} of ${server} cannot be said: ${said.en}`,
      `${server} の @${name} は使えません：${said.ja}`,
    )
    return { kind: 'error', said: why }
  }
  const text = prompt.arguments.length === 0 ? withWords(said.text, words) : said.text
  return { kind: 'spoken', ...said, text, source: `@${prompt.name} (${prompt.server})`, mayAttach: false, typed: '' }
}

/** `@explain <topic> [language]` */
export const usageOf = ({ name, arguments: wanted }: Pick<ServerPrompt, 'name' | 'arguments'>, called = name): string =>
  [`@${called}`, ...wanted.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`))].join(' ')

export type AnyPrompt =
  | { readonly kind: 'kept'; readonly called: string; readonly prompt: KeptPrompt }
  | { readonly kind: 'server'; readonly called: string; readonly prompt: ServerPrompt }

/** All that can be said with `@`, each by the shortest name that means it alone. */
export function allPrompts(talk: Talk): readonly AnyPrompt[] {
  const kept = keptPrompts(talk)
  const offered = talk.rig.help.prompts()
  const isAlone = (name: string): boolean =>
    !kept.some((one) => one.name === name) && offered.filter((one) => one.name === name).length === 1
  return [
    ...kept.map((prompt): AnyPrompt => ({ kind: 'kept', called: prompt.name, prompt })),
    ...offered.map((prompt): AnyPrompt => {
      const called = isAlone(prompt.name) ? prompt.name : `${prompt.server}/${prompt.name}`
      return { kind: 'server', called, prompt }
    }),
  ]
}

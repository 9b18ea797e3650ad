/** Saved prompts: `@name` inserts the text of a file or a prompt of an MCP server. */
import { join } from 'node:path'
import type { ImageBlock } from '../conversation/message.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { listEntries } from '../lib/files/safe-fs.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { CommandWords } from './commands/command.ts'
import { isLinkOutside } from './context-files.ts'
import { assignPromptValues, type PromptContent, type ServerPrompt } from './mcp/offer.ts'
import type { ChatSession } from './session.ts'

interface SavedPrompt {
  readonly name: string
  readonly path: string
  readonly place: 'project' | 'fumibako' | 'amazon-q'
}

export function findSavedPrompts({
  setup,
  commandContext,
}: Pick<ChatSession, 'setup' | 'commandContext'>): readonly SavedPrompt[] {
  const { cwd, home } = setup.workspace
  const folders = [
    ['project', join(cwd, '.amazonq', 'prompts')],
    ['fumibako', join(commandContext.data, 'prompts')],
    ['amazon-q', join(home, '.aws', 'amazonq', 'prompts')],
  ] as const
  const found = new Map<string, SavedPrompt>()
  for (const [place, folder] of folders) {
    // A project folder that links elsewhere would present foreign files as the project's.
    if (place === 'project' && isLinkOutside(folder, setup.workspace)) continue
    for (const entry of listEntries(folder)) {
      const name = entry.name.replace(/\.md$/, '')
      if (entry.isFile() && entry.name !== name && !found.has(name))
        found.set(name, { name, place, path: join(folder, entry.name) })
    }
  }
  return [...found.values()]
}

export function readPromptText(path: string): string {
  try {
    return readRegularFile(path).toString()
  } catch {
    return ''
  }
}

const appendWords = (text: string, words: string): string =>
  [text.trimEnd(), words].filter((one) => one !== '').join('\n\n')

function parsePromptCall(line: string): { readonly name: string; readonly words: string } | undefined {
  const match = /^@(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim())
  return match ? { name: match[1] ?? '', words: match[2] ?? '' } : undefined
}

/** The saved prompt named by `@name …`, or the line itself. */
export function expandSavedPrompt(session: Pick<ChatSession, 'setup' | 'commandContext'>, line: string): string {
  const promptCall = parsePromptCall(line)
  const saved = promptCall && findSavedPrompts(session).find(({ name }) => name === promptCall.name)
  return saved ? appendWords(readPromptText(saved.path), promptCall.words) : line
}

export interface ResolvedPrompt {
  readonly kind: 'spoken'
  readonly before: PromptContent['before']
  readonly text: string
  readonly images: readonly ImageBlock[]
  /** Null for a typed prompt. */
  readonly source: string | null
  /** Whether files named in the text are attached. Text from a server never attaches files of this machine. */
  readonly mayAttach: boolean
  /** Only this part may name files outside the project. */
  readonly typed: string
}

type UnresolvedPrompt = { readonly kind: 'error'; readonly said: Phrase }

const typedPrompt = (text: string, typed = text): ResolvedPrompt => {
  return { kind: 'spoken', before: [], text, images: [], source: null, mayAttach: true, typed }
}

/**
 * Files take precedence over servers. A line that names no saved prompt is sent unchanged. @param typed the part that
 * the user typed
 */
export async function resolvePrompt(
  session: ChatSession,
  line: string,
  signal: AbortSignal,
  typed = line,
): Promise<ResolvedPrompt | UnresolvedPrompt> {
  const called = parsePromptCall(line)
  if (!called) return typedPrompt(line, typed)
  const saved = findSavedPrompts(session).find(({ name }) => name === called.name)
  if (saved) {
    const text = appendWords(readPromptText(saved.path), called.words)
    const own = saved.place === 'project' ? called.words : text
    return { ...typedPrompt(text, own), source: `@${saved.name} (${saved.place})` }
  }
  await session.setup.services.ready()
  const offered = findServerPrompts(session, called.name)
  const [prompt] = offered
  if (!prompt) return typedPrompt(line, typed)
  if (offered.length > 1) {
    const names = offered.map(({ server, name }) => `@${server}/${name}`)
    const result = phrase(
      `several servers have a prompt ${called.name}. Type ${names.join(' or ')}.`,
      `文章 ${called.name} は複数のサーバーにあります。${names.join(' か ')} と書いてください。`,
    )
    return { kind: 'error', said: result }
  }
  return fetchServerPrompt(prompt, called.words, signal)
}

const findServerPrompts = ({ setup }: ChatSession, called: string): readonly ServerPrompt[] =>
  setup.services.prompts().filter(({ server, name }) => called === name || called === `${server}/${name}`)

async function fetchServerPrompt(
  prompt: ServerPrompt,
  words: string,
  signal: AbortSignal,
): Promise<ResolvedPrompt | UnresolvedPrompt> {
  const { values, missing } = assignPromptValues(prompt, new CommandWords(words).all)
  if (missing.length > 0) {
    const usage = promptUsage(prompt)
    const why = phrase(
      `missing ${missing.join(' and ')}. Usage: ${usage}`,
      `${missing.join(' と ')} を指定してください：${usage}`,
    )
    return { kind: 'error', said: why }
  }
  const result = await prompt.get(values, signal)
  if ('en' in result) {
    const { name, server } = prompt
    const why = phrase(
      `cannot use @${name} of ${server}: ${result.en}`,
      `${server} の @${name} は使えません：${result.ja}`,
    )
    return { kind: 'error', said: why }
  }
  const text = prompt.arguments.length === 0 ? appendWords(result.text, words) : result.text
  return { kind: 'spoken', ...result, text, source: `@${prompt.name} (${prompt.server})`, mayAttach: false, typed: '' }
}

/** `@explain <topic> [language]` */
export const promptUsage = (
  { name, arguments: wanted }: Pick<ServerPrompt, 'name' | 'arguments'>,
  called = name,
): string => [`@${called}`, ...wanted.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`))].join(' ')

export type AnyPrompt =
  | { readonly kind: 'kept'; readonly called: string; readonly prompt: SavedPrompt }
  | { readonly kind: 'server'; readonly called: string; readonly prompt: ServerPrompt }

/** Everything `@` can name, by its shortest unambiguous name. */
export function listPrompts(session: ChatSession): readonly AnyPrompt[] {
  const saved = findSavedPrompts(session)
  const offered = session.setup.services.prompts()
  const isUnique = (name: string): boolean =>
    !saved.some((one) => one.name === name) && offered.filter((one) => one.name === name).length === 1
  return [
    ...saved.map((prompt): AnyPrompt => ({ kind: 'kept', called: prompt.name, prompt })),
    ...offered.map((prompt): AnyPrompt => {
      const called = isUnique(prompt.name) ? prompt.name : `${prompt.server}/${prompt.name}`
      return { kind: 'server', called, prompt }
    }),
  ]
}

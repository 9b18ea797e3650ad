/** Tab completion in a prompt: commands, their arguments, file names, and words of the conversation. */
import { readdirSync } from 'node:fs'
import { agentReference, findAgents } from '../../../chat/agent-file/find-agents.ts'
import { resolveTypedPath } from '../../../chat/attachments.ts'
import { listCheckpoints } from '../../../chat/checkpoint/checkpoints.ts'
import { CHAT_COMMANDS } from '../../../chat/commands/command-list.ts'
import type { ChatSession } from '../../../chat/open/open-chat.ts'
import { listPrompts, promptUsage } from '../../../chat/prompts.ts'
import { toolLabel } from '../../../chat/tools/permission/permission.ts'
import { toPrintable } from '../../../lib/text.ts'
import { localize } from '../../language.ts'
import type { TextLine } from './editor.ts'

export interface CompletionItem {
  readonly text: string
  readonly note?: string
  /** Typing continues right after it, without a space: a folder. */
  readonly isOpen?: boolean
}

interface CompletionList {
  readonly from: number
  readonly all: readonly CompletionItem[]
}

export type Completer = (line: TextLine) => CompletionList

export function commonPrefix(items: readonly CompletionItem[]): string {
  let common = items[0]?.text ?? ''
  for (const { text } of items) while (!text.startsWith(common)) common = common.slice(0, -1)
  return common
}

export interface CompletionData {
  agents(): readonly string[]
  rules(): readonly string[]
  tags(): readonly string[]
  tools(): readonly string[]
  models(): readonly string[]
  prompts(): readonly { readonly name: string; readonly note: string }[]
  /** Resources of MCP servers, as `server:uri`. */
  resources(): readonly string[]
  /** Lists a folder, named as the user typed it. Empty if there is no such folder. */
  files(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[]
}

export function findCompletions({ text, at }: TextLine, data: CompletionData): CompletionList {
  const typed = text.slice(0, at)
  const word = /(?:@?"[^"\n]*|\S*)$/.exec(typed.slice(-MAX_WORD_LENGTH))?.[0] ?? ''
  const from = at - word.length
  return { from, all: completionsAt(typed.slice(0, from), word, data).filter(isPrintable) }
}

const MAX_WORD_LENGTH = 4096

/** Names with escape sequences or invisible characters are not offered. */
const isPrintable = ({ text, note = '' }: CompletionItem): boolean => toPrintable(text + note) === text + note

function completionsAt(head: string, word: string, data: CompletionData): readonly CompletionItem[] {
  if (head === '' && word.startsWith('/')) return completeCommands(word)
  const match = /^\/(\S+)\s+([\s\S]*)$/.exec(head)
  const command = match && CHAT_COMMANDS.find(({ name, aliases = [] }) => [name, ...aliases].includes(match[1] ?? ''))
  if (command) {
    const before = (match[2] ?? '').split(/\s+/).filter(Boolean)
    const words = before.length === 0 ? (command.words ?? []).map((text) => ({ text })) : []
    return [...startingWith(words, word), ...completeArguments(command.name, before[0], word, data)]
  }
  if (!word.startsWith('@')) return []
  // Later than files, which are named more often.
  const known = word.length < MIN_REFERENCE_LENGTH ? [] : ['diff', 'session:']
  const references = [...known, ...data.resources()].map((name) => ({ text: `@${name}` }))
  const prompts = head === '' ? data.prompts().map(({ name, note }) => ({ text: `@${name}`, note })) : []
  return [
    ...startingWith(prompts, word),
    ...startingWith(
      references.map((one) => (one.text.endsWith(':') ? { ...one, isOpen: true } : one)),
      word,
    ),
    ...completeFiles(word.slice(1), data).map((one) => ({ ...one, text: `@${one.text}` })),
  ]
}

const MIN_REFERENCE_LENGTH = '@di'.length

const startingWith = (completions: readonly CompletionItem[], word: string): readonly CompletionItem[] =>
  completions.filter(({ text }) => text.startsWith(word))

const completeCommands = (word: string): readonly CompletionItem[] =>
  startingWith(
    CHAT_COMMANDS.map(({ name, help }) => ({ text: `/${name}`, note: localize(help) })),
    word,
  )

type ArgumentSource = (data: CompletionData) => readonly string[]

const commandNames: ArgumentSource = () => CHAT_COMMANDS.map(({ name }) => name)
const agentNames: ArgumentSource = (data) => data.agents()
const contextRules: ArgumentSource = (data) => data.rules()
const checkpointTags: ArgumentSource = (data) => data.tags()
const toolNames: ArgumentSource = (data) => data.tools()
const modelNames: ArgumentSource = (data) => data.models()
const promptNames: ArgumentSource = (data) => data.prompts().map(({ name }) => name)

/** Keys are a command, or a command and its subcommand. */
const ARGUMENT_SOURCES: { readonly [call: string]: ArgumentSource | 'files' } = {
  help: commandNames,
  model: modelNames,
  attach: 'files',
  save: 'files',
  load: 'files',
  'agent show': agentNames,
  'agent swap': agentNames,
  'context add': 'files',
  'context remove': contextRules,
  'checkpoint expand': checkpointTags,
  'checkpoint diff': checkpointTags,
  'checkpoint restore': checkpointTags,
  'tools trust': toolNames,
  'tools untrust': toolNames,
  'prompts get': promptNames,
  'prompts details': promptNames,
  'prompts edit': promptNames,
  'prompts remove': promptNames,
}

function completeArguments(
  command: string,
  first: string | undefined,
  word: string,
  data: CompletionData,
): readonly CompletionItem[] {
  const source = ARGUMENT_SOURCES[command] ?? ARGUMENT_SOURCES[`${command} ${first}`]
  if (source === undefined) return []
  if (source === 'files') return completeFiles(word, data)
  return startingWith(
    source(data).map((text) => ({ text })),
    word,
  )
}

/** Quotes names with spaces. Lists hidden files only after a typed dot. */
function completeFiles(typed: string, data: CompletionData): readonly CompletionItem[] {
  const isQuoted = typed.startsWith('"')
  const path = isQuoted ? typed.slice(1) : typed
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const prefix = path.slice(folder.length)
  return data
    .files(folder)
    .filter(({ name }) => name.startsWith(prefix) && (prefix.startsWith('.') || !name.startsWith('.')))
    .map(({ name, isFolder }) => {
      const fullPath = `${folder}${name}${isFolder ? '/' : ''}`
      const quoted = isQuoted || /\s/.test(fullPath) ? `"${fullPath}${isFolder ? '' : '"'}` : fullPath
      return isFolder ? { text: quoted, isOpen: true } : { text: quoted }
    })
}

export function createCompleter(chat: ChatSession): Completer {
  const data = completionDataOf(chat)
  return (line) => findCompletions(line, data)
}

const completionDataOf = (chat: ChatSession): CompletionData => ({
  agents: () => {
    const { agents } = findAgents({ ...chat.setup.workspace, data: chat.commandContext.data })
    return agents.map((found) => agentReference(found, agents, chat.setup.workspace.cwd))
  },
  rules: () => chat.state.context_manager?.paths ?? [],
  tags: () => listCheckpoints(chat.state).map(({ tag }) => tag),
  tools: () => chat.setup.toolSet.all.map(toolLabel),
  models: () => chat.commandContext.listedModels ?? [],
  prompts: () =>
    listPrompts(chat).map((one) => ({
      name: one.called,
      note: one.kind === 'kept' ? one.prompt.place : `${promptUsage(one.prompt, one.called)} · ${one.prompt.server}`,
    })),
  resources: () => chat.setup.services.resources().map(({ server, uri }) => `${server}:${uri}`),
  files: (folder) =>
    listFolder(folder === '' ? chat.setup.workspace.cwd : resolveTypedPath(folder, chat.setup.workspace)),
})

function listFolder(folder: string): ReturnType<CompletionData['files']> {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}

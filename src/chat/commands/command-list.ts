/** Every command of a conversation. There is no other list. */
import { AppError } from '../../model/error.ts'
import { composePhrase, type Phrase, type PickWording, phrase } from '../../model/phrase.ts'
import { type ChatSessionEvent, errorEvent } from '../events.ts'
import type { ChatSession } from '../session.ts'
import { type FileChanges, readFileChanges } from '../tools/files/seen-files.ts'
import { agentCommand, mcpCommand } from './agent.ts'
import { checkpointCommand } from './checkpoint.ts'
import { type ChatCommandDefinition, CommandWords, outputEvent, outputText } from './command.ts'
import { attachCommand, editCommand, editorCommand, replyCommand, retryCommand } from './compose.ts'
import { contextCommand } from './context.ts'
import { copyCommand, exportCommand } from './copy-export.ts'
import { commitCommand, diffCommand, undoCommand } from './git.ts'
import { clearCommand, compactCommand, rewindCommand } from './history.ts'
import { modelCommand } from './model.ts'
import { permissionsCommand, planCommand } from './permissions.ts'
import { savedPromptsCommand } from './prompts.ts'
import { loadCommand, saveCommand } from './save-load.ts'
import { tangentCommand } from './tangent.ts'
import { shellCommand, toolsCommand } from './tools.ts'
import { reasoningCommand, transcriptCommand, usageCommand } from './usage.ts'

const changesCommand: ChatCommandDefinition = {
  name: 'changes',
  args: '',
  help: phrase('files that the agent wrote, with line counts', 'エージェントが書いたファイルと、それぞれが書いた行'),
  async *run({ state, setup }) {
    const changes = await readFileChanges(state, setup.seen, setup.workspace)
    if (changes.length === 0)
      yield outputText('The agent has not written any files yet.', 'エージェントはまだファイルを書いていません。')
    else yield outputEvent(composePhrase((say) => changes.map((one) => formatChanges(one, say)).join('\n')))
  },
}

function formatChanges(
  { path, agentLines: { added, removed }, userLines, now }: FileChanges,
  say: PickWording,
): string {
  const yours = `${userLines < 0 ? '' : '+'}${userLines}`
  const since = now === 'unchanged' ? '' : say(`, ${STATUS_TEXTS[now].en}`, `、${STATUS_TEXTS[now].ja}`)
  return `${path}  ${say(`agent +${added} -${removed}, you ${yours}`, `エージェント +${added} -${removed}、あなた ${yours}`)}${since}`
}

const STATUS_TEXTS = {
  changed: phrase('changed later', 'その後に変更'),
  gone: phrase('gone', '削除済み'),
  unreadable: phrase('cannot be read', '読み取り不可'),
} as const

const helpCommand: ChatCommandDefinition = {
  name: 'help',
  args: '[command]',
  help: phrase('list commands, or show help for one', 'コマンドの一覧、または 1 つの説明'),
  async *run(_, { first }) {
    const name = first.replace(/^\//, '')
    const wanted = CHAT_COMMANDS.filter((one) => name === '' || isNamed(one, name))
    if (wanted.length === 0) yield errorEvent(unknownCommandText(name))
    else
      yield outputEvent(
        composePhrase((say) =>
          (name === ''
            ? [...wanted.map((one) => shortLine(one, say)), ...otherInputs(say)]
            : wanted.map((one) => helpLine(one, say))
          ).join('\n'),
        ),
      )
  },
}

const quitCommand: ChatCommandDefinition = {
  name: 'quit',
  aliases: ['q', 'exit'],
  args: '',
  help: phrase('exit; resume later with fumi chat --resume', '終了する。後で fumi chat --resume で再開できる'),
  async *run() {
    yield { kind: 'quit' }
  },
}

export const CHAT_COMMANDS: readonly ChatCommandDefinition[] = [
  helpCommand,
  clearCommand,
  compactCommand,
  rewindCommand,
  retryCommand,
  editCommand,
  tangentCommand,
  contextCommand,
  attachCommand,
  editorCommand,
  replyCommand,
  savedPromptsCommand,
  modelCommand,
  agentCommand,
  toolsCommand,
  permissionsCommand,
  planCommand,
  mcpCommand,
  checkpointCommand,
  changesCommand,
  diffCommand,
  undoCommand,
  commitCommand,
  usageCommand,
  reasoningCommand,
  transcriptCommand,
  copyCommand,
  exportCommand,
  saveCommand,
  loadCommand,
  quitCommand,
]

const otherInputs = (say: PickWording): readonly string[] => [
  say('!command  run a shell command', '!コマンド  シェルで実行する'),
  say('@path  in a prompt: attach the file', '@パス  依頼の中に書くと、そのファイルを添付する'),
  say('@name  send a saved prompt: /prompts', '@名前  登録した文章で依頼する：/prompts'),
  '',
  say('Type /help <command> for details.', '/help <コマンド> で詳しい説明を見られます。'),
]

const shortLine = ({ name, help }: ChatCommandDefinition, say: PickWording): string =>
  `/${name}  ${say(help.en, help.ja)}`

const helpLine = ({ name, aliases = [], args, help }: ChatCommandDefinition, say: PickWording): string =>
  `/${[name, ...aliases].join(', /')}${args === '' ? '' : ` ${args}`}\n    ${say(help.en, help.ja)}`

const isNamed = ({ name, aliases = [] }: ChatCommandDefinition, word: string): boolean =>
  name === word || aliases.includes(word)

interface ParsedCommand {
  readonly words: CommandWords
  run(session: ChatSession, words: CommandWords, signal: AbortSignal): AsyncGenerator<ChatSessionEvent>
}

/** Undefined for a prompt. A first word with another slash or a dot is a path, not a command. */
export function parseCommand(line: string): ParsedCommand | undefined {
  if (line.startsWith('!')) return { words: new CommandWords(line.slice(1)), run: reportErrors(shellCommand) }
  const match = /^\/(\S*)([\s\S]*)$/.exec(line)
  if (!match || /[/\\.]/.test(match[1] ?? '')) return undefined
  const name = match[1] ?? ''
  const command = CHAT_COMMANDS.find((one) => isNamed(one, name))
  return { words: new CommandWords(match[2] ?? ''), run: command ? reportErrors(command) : rejectUnknown(name) }
}

function reportErrors(command: Pick<ChatCommandDefinition, 'run'>): ParsedCommand['run'] {
  return async function* (session, words, signal) {
    try {
      yield* command.run(session, words, signal)
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code === 'cannot_write') throw thrown
      yield errorEvent(thrown.phrase)
    }
  }
}

const rejectUnknown = (name: string): ParsedCommand['run'] =>
  async function* () {
    yield errorEvent(unknownCommandText(name))
  }

function unknownCommandText(name: string): Phrase {
  const sortLetters = (text: string): string => [...text].sort().join('')
  const isLike = (one: string): boolean =>
    sortLetters(one) === sortLetters(name) || (name.length > 1 && (one.startsWith(name) || name.startsWith(one)))
  const similar = CHAT_COMMANDS.find((one) => isLike(one.name))
  return phrase(
    `Unknown command /${name}.${similar ? ` Did you mean /${similar.name}?` : ''} Type /help for a list.`,
    `コマンド /${name} はありません。${similar ? `/${similar.name} ですか？ ` : ''}/help で一覧を見られます。`,
  )
}

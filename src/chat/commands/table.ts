/** Every command that can be given within a conversation: the only list there is. */
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase, phrased, type Say } from '../../model/phrase.ts'
import type { Talk } from '../talk.ts'
import { error, type TalkEvent } from '../turn/event.ts'
import { agentCommand, mcpCommand } from './agent.ts'
import { checkpointCommand } from './checkpoint.ts'
import { type Command, output, Words } from './command.ts'
import { contextCommand } from './context.ts'
import { changesCommand } from './files.ts'
import { modelCommand } from './model.ts'
import { clearCommand, compactCommand, rewindCommand } from './past.ts'
import { promptsCommand } from './prompts.ts'
import { loadCommand, saveCommand } from './save.ts'
import { tangentCommand } from './tangent.ts'
import { shellCommand, toolsCommand } from './tools.ts'
import { transcriptCommand, usageCommand } from './usage.ts'
import { attachCommand, editorCommand, replyCommand, retryCommand } from './writing.ts'

const helpCommand: Command = {
  name: 'help',
  args: '[command]',
  help: phrase('what can be typed here', 'ここで使えるコマンド'),
  async *run(_, { first }) {
    const name = first.replace(/^\//, '')
    const wanted = COMMANDS.filter((one) => name === '' || isNamed(one, name))
    if (wanted.length === 0) yield error(noCommand(name))
    else
      yield output(
        phrased((say) =>
          (name === ''
            ? [...wanted.map((one) => shortLine(one, say)), ...more(say)]
            : wanted.map((one) => helpLine(one, say))
          ).join('\n'),
        ),
      )
  },
}

const quitCommand: Command = {
  name: 'quit',
  aliases: ['q', 'exit'],
  args: '',
  help: phrase('end; the conversation stays and can be gone on with', '終える。会話は残り、続きから再開できる'),
  async *run() {
    yield { kind: 'quit' }
  },
}

/** In the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  helpCommand,
  clearCommand,
  compactCommand,
  rewindCommand,
  retryCommand,
  tangentCommand,
  contextCommand,
  attachCommand,
  editorCommand,
  replyCommand,
  promptsCommand,
  modelCommand,
  agentCommand,
  toolsCommand,
  mcpCommand,
  checkpointCommand,
  changesCommand,
  usageCommand,
  transcriptCommand,
  saveCommand,
  loadCommand,
  quitCommand,
]

const more = (say: Say): readonly string[] => [
  say('!command  run it in a shell', '!コマンド  シェルで実行する'),
  say('@path  in a prompt: the file goes along', '@パス  依頼の中に書くと、そのファイルを一緒に送る'),
  say('@name  say a text that is kept: /prompts', '@名前  登録した文章で依頼する：/prompts'),
  '',
  say('/help <command> tells all of it.', '/help <コマンド> で詳しい説明を見られます。'),
]

const shortLine = ({ name, help }: Command, say: Say): string => `/${name}  ${say(help.en, help.ja)}`

const helpLine = ({ name, aliases = [], args, help }: Command, say: Say): string =>
  `/${[name, ...aliases].join(', /')}${args === '' ? '' : ` ${args}`}\n    ${say(help.en, help.ja)}`

const isNamed = ({ name, aliases = [] }: Command, word: string): boolean => name === word || aliases.includes(word)

export interface Called {
  readonly words: Words
  run(talk: Talk, words: Words, signal: AbortSignal): AsyncGenerator<TalkEvent>
}

/** The command that a line is; nothing for a prompt. A first word with a further slash or a dot is a path, not a command. */
export function commandIn(line: string): Called | undefined {
  if (line.startsWith('!')) return { words: new Words(line.slice(1)), run: guarded(shellCommand) }
  const match = /^\/(\S*)([\s\S]*)$/.exec(line)
  if (!match || /[/\\.]/.test(match[1] ?? '')) return undefined
  const name = match[1] ?? ''
  const command = COMMANDS.find((one) => isNamed(one, name))
  return { words: new Words(match[2] ?? ''), run: command ? guarded(command) : unknown(name) }
}

/** What cannot be done is told; the conversation goes on. */
function guarded(command: Pick<Command, 'run'>): Called['run'] {
  return async function* (talk, words, signal) {
    try {
      yield* command.run(talk, words, signal)
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code === 'cannot_write') throw thrown
      yield error(thrown.phrase)
    }
  }
}

const unknown = (name: string): Called['run'] =>
  async function* () {
    yield error(noCommand(name))
  }

/** With the one that was probably meant: letters that are swapped, missing or too many. */
function noCommand(name: string): Phrase {
  const letters = (text: string): string => [...text].sort().join('')
  const isLike = (one: string): boolean =>
    letters(one) === letters(name) || (name.length > 1 && (one.startsWith(name) || name.startsWith(one)))
  const meant = COMMANDS.find((one) => isLike(one.name))
  return phrase(
    `there is no command /${name}${meant ? `; is it /${meant.name}?` : '.'} /help lists them all.`,
    `コマンド /${name} はありません。${meant ? `/${meant.name} ですか？ ` : ''}/help で一覧を見られます。`,
  )
}

/** Every command that can be given within a conversation: the only list there is. */
import { AppError } from '../../model/error.ts'
import type { Talk } from '../talk.ts'
import type { TalkEvent } from '../turn/event.ts'
import { agentCommand, mcpCommand } from './agent.ts'
import { checkpointCommand } from './checkpoint.ts'
import { type Command, error, output, Words } from './command.ts'
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
  help: 'what can be typed here',
  async *run(_, { first }) {
    const name = first.replace(/^\//, '')
    const wanted = COMMANDS.filter((one) => name === '' || isNamed(one, name))
    if (wanted.length === 0) yield error(noCommand(name))
    else if (name === '') yield output([...wanted.map(shortLine), ...MORE].join('\n'))
    else yield output(wanted.map(helpLine).join('\n'))
  },
}

const quitCommand: Command = {
  name: 'quit',
  aliases: ['q', 'exit'],
  args: '',
  help: 'end; the conversation stays and can be gone on with',
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

const MORE = [
  '!command  run it in a shell',
  '@path  in a prompt: the file goes along',
  '@name  say a text that is kept: /prompts',
  '',
  '/help <command> tells all of it.',
]

const shortLine = ({ name, help }: Command): string => `/${name}  ${help}`

const helpLine = ({ name, aliases = [], args, help }: Command): string =>
  `/${[name, ...aliases].join(', /')}${args === '' ? '' : ` ${args}`}\n    ${help}`

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
      yield error(thrown.message)
    }
  }
}

const unknown = (name: string): Called['run'] =>
  async function* () {
    yield error(noCommand(name))
  }

/** With the one that was probably meant: letters that are swapped, missing or too many. */
function noCommand(name: string): string {
  const letters = (text: string): string => [...text].sort().join('')
  const isLike = (one: string): boolean =>
    letters(one) === letters(name) || (name.length > 1 && (one.startsWith(name) || name.startsWith(one)))
  const meant = COMMANDS.find((one) => isLike(one.name))
  return `there is no command /${name}${meant ? `; is it /${meant.name}?` : '.'} /help lists them all.`
}

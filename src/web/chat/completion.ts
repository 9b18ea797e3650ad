/** Completes what is being typed: a command, its first argument, or a file of the project. */
import type { ChatCommand } from '../../model/api/chat.ts'

interface PromptCompletion {
  readonly kind: 'command' | 'word' | 'file'
  /** Start of the completed part, and its typed characters. */
  readonly from: number
  readonly typed: string
  /** Matching commands or arguments. Files are requested from the server. */
  readonly choices: readonly CompletionChoice[]
}

export interface CompletionChoice {
  /** Replaces the typed part. */
  readonly text: string
  readonly hint: string
}

export function findCompletion(text: string, commands: readonly ChatCommand[]): PromptCompletion | undefined {
  const command = /^\/([\w-]*)$/.exec(text)
  if (command) {
    const typed = command[1] ?? ''
    const choices = commands
      .filter(({ name }) => name.startsWith(typed))
      .map(({ name, args, help }) => ({ text: `/${name}${args === '' ? '' : ' '}`, hint: help }))
    return choices.length === 0 ? undefined : { kind: 'command', from: 0, typed: text, choices }
  }
  const word = /^\/([\w-]+)\s+([\w-]*)$/.exec(text)
  const known = word && commands.find(({ name, aliases }) => name === word[1] || aliases.includes(word[1] ?? ''))
  if (known && known.words.length > 0) {
    const typed = word[2] ?? ''
    const choices = known.words.filter((one) => one.startsWith(typed) && one !== typed)
    if (choices.length === 0) return undefined
    const from = text.length - typed.length
    return { kind: 'word', from, typed, choices: choices.map((one) => ({ text: one, hint: '' })) }
  }
  const file = /(?:^|\s)@([^\s"]*)$/.exec(text) ?? /^\/(?:attach|context add)\s+(?:\S+\s+)*([^\s"-]*)$/.exec(text)
  if (!file) return undefined
  const typed = file[1] ?? ''
  return { kind: 'file', from: text.length - typed.length, typed, choices: [] }
}

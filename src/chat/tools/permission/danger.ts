/** Commands that destroy or send away what no checkpoint brings back. */
import { parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { findArgumentDanger } from './read-only-programs.ts'
import { findStartedPrograms, INTERPRETER, programNameOf, SHELLS } from './started-programs.ts'

interface Danger {
  readonly names: RegExp
  /** Any of the arguments, where not every use is dangerous. */
  readonly when?: (values: readonly string[]) => boolean
  readonly reason: Phrase
}

const anyMatch =
  (pattern: RegExp) =>
  (values: readonly string[]): boolean =>
    values.some((value) => pattern.test(value))

const DANGERS: readonly Danger[] = [
  {
    names: /^(?:sudo|doas|su|pkexec|runuser)$/,
    reason: phrase('it runs as another user', '別のユーザーとして実行します'),
  },
  {
    names: /^rm$/,
    when: anyMatch(/^-\w*[rRf]|^--(?:r|f)/),
    reason: phrase('it deletes files', 'ファイルを削除します'),
  },
  {
    names: /^find$/,
    when: anyMatch(/^-(?:delete|exec|ok|fprint|fls)/),
    reason: phrase('find runs, deletes or writes something', 'find が何かを実行・削除・書き込みします'),
  },
  { names: /^(?:dd|mkfs.*|shred|fdisk|wipefs)$/, reason: phrase('it writes to disks', 'ディスクに直接書き込みます') },
  {
    names: /^(?:chmod|chown)$/,
    when: anyMatch(/^-\w*R|^--recursive/),
    reason: phrase('it changes owners or modes of whole folders', 'フォルダー全体の所有者や権限を変えます'),
  },
  {
    names: /^git$/,
    when: (values) =>
      (values.includes('reset') && values.includes('--hard')) ||
      (values.includes('clean') && anyMatch(/^-\w*[fd]|^--force/)(values)) ||
      (values.includes('push') && anyMatch(/^-\w*f|^--force|^\+/)(values)),
    reason: phrase('it discards work in git', 'git の作業内容を捨てます'),
  },
  {
    names: /^(?:shutdown|reboot|halt|poweroff|kill|killall|pkill)$/,
    reason: phrase('it stops programs or the machine', 'プログラムやマシンを止めます'),
  },
]

const RUNS_DOWNLOADED = phrase('it runs what it loads from the network', 'ネットワークから取得したものを実行します')

/** Why somebody should look twice; nothing when the words are harmless and clear. */
export const dangerOf = (command: string): Phrase | undefined => findDestruction(command) ?? findUnclear(command)

/** What a command in it destroys or runs. A command that is only unclear destroys nothing by this function. */
export function findDestruction(command: string): Phrase | undefined {
  let isLoading = false
  for (const { words, isPiped } of findStartedPrograms(command).started) {
    const name = programNameOf(words)
    const values = words.slice(1).map(({ value }) => value)
    const danger = DANGERS.find(({ names, when }) => names.test(name) && (when?.(values) ?? true))
    if (danger) return danger.reason
    if (/^(?:curl|wget|fetch)$/.test(name)) isLoading = true
    else if (isLoading && isPiped && (SHELLS.has(name) || INTERPRETER.test(name))) return RUNS_DOWNLOADED
  }
  return undefined
}

/** Why it cannot be told what a command does by looking at its words; nothing when it can. */
export function findUnclear(command: string): Phrase | undefined {
  const pipe = parsePlainPipe(command)
  if (!pipe.ok) return pipe.reason
  return pipe.commands.map(findArgumentDanger).find((reason) => reason !== undefined)
}

/** What can be told of a shell command before it runs: whether it only reads, and what about it is dangerous. */
import { type Phrase, phrase } from '../../../model/phrase.ts'
import type { CommandSettings, Decision } from '../permission.ts'

export function commandDecision(command: string, listed: boolean, settings: CommandSettings): Decision {
  const denied = settings.deniedCommands.map(whole)
  // A rule that cannot be read may have meant this very command.
  if (denied.some((rule) => rule === undefined))
    return { kind: 'deny', reason: 'a rule of deniedCommands cannot be read' }
  if (denied.some((rule) => rule?.test(command)))
    return { kind: 'deny', reason: 'the command is among the denied ones' }
  if (listed) return { kind: 'allow' }
  const free =
    unclear(command) === undefined &&
    (settings.allowedCommands.some((rule) => whole(rule)?.test(command)) ||
      (settings.autoAllowReadonly && isReadOnly(command)))
  if (free) return { kind: 'allow' }
  return settings.denyByDefault ? { kind: 'deny', reason: 'only listed commands may run' } : { kind: 'ask' }
}

/** `(?i)` in front is the one thing that rules have from another dialect. */
function whole(rule: string): RegExp | undefined {
  const folded = rule.startsWith('(?i)')
  try {
    return new RegExp(`^(?:${folded ? rule.slice(4) : rule})$`, folded ? 'i' : '')
  } catch {
    return undefined
  }
}

const READERS = new Set(['ls', 'cat', 'echo', 'pwd', 'which', 'head', 'tail', 'find', 'grep', 'dir', 'type'])

/** All commands of the pipe only read, and nothing else is hidden in it. */
export function isReadOnly(command: string): boolean {
  if (unclear(command) !== undefined) return false
  return pipeOf(command).every((words) => READERS.has(words[0] ?? ''))
}

const JOINING = ['<(', '$(', '`', '>', '&&', '||', '&', ';', '$', 'IFS']
const FIND_ACTIONS = ['-exec', '-delete', '-ok', '-fprint', '-fls']

/** Why it cannot be told what a command does by looking at its words; nothing when it can. */
export function unclear(command: string): Phrase | undefined {
  if (/[\n\r]/.test(command)) return phrase('it has several lines', '複数行のコマンドです')
  const words = wordsOf(command)
  if (!words || words.length === 0) return UNPARSED
  const joining = JOINING.find((piece) => command.includes(piece))
  if (joining !== undefined) return containing(joining)
  if (words.some((word) => word !== '|' && word.includes('|'))) return containing('|')
  for (const [name, ...rest] of pipeOf(command)) {
    if (name === undefined) return UNPARSED
    if (name === 'find' && rest.some((word) => FIND_ACTIONS.some((action) => word.includes(action))))
      return phrase('find runs, deletes or writes something', 'find が何かを実行・削除・書き込みします')
    if (name === 'grep' && rest.some((word) => /^-[a-zA-Z]*P/.test(word) || word === '--perl-regexp'))
      return phrase('grep runs a Perl expression', 'grep が Perl の式を実行します')
  }
  return undefined
}

const UNPARSED = phrase('it cannot be parsed', '構文を解釈できません')

const containing = (piece: string): Phrase => phrase(`it contains ${piece}`, `${piece} が含まれています`)

/** Commands that destroy or send away what no checkpoint brings back. */
const DESTRUCTIVE: readonly (readonly [RegExp, Phrase])[] = [
  [/(?:^|[\s;&|(])(?:sudo|doas|su)\s/, phrase('it runs as another user', '別のユーザーとして実行します')],
  [/(?:^|[\s;&|(])rm\s+(?:\S+\s+)*-\w*[rRf]/, phrase('it deletes files', 'ファイルを削除します')],
  [/(?:^|[\s;&|(])(?:dd|mkfs\S*|shred|fdisk|wipefs)\s/, phrase('it writes to disks', 'ディスクに直接書き込みます')],
  [
    /(?:^|[\s;&|(])(?:chmod|chown)\s+(?:\S+\s+)*-\w*R/,
    phrase('it changes owners or modes of whole folders', 'フォルダー全体の所有者や権限を変えます'),
  ],
  [
    /\bgit\s+(?:\S+\s+)*(?:reset\s+(?:\S+\s+)*--hard|clean\s+(?:\S+\s+)*-\w*[fd]|push\s+(?:\S+\s+)*(?:-f\b|--force))/,
    phrase('it discards work in git', 'git の作業内容を捨てます'),
  ],
  [
    /\b(?:curl|wget)\b[^|]*\|\s*(?:\w*sh|python\d?|node|perl|ruby)\b/,
    phrase('it runs what it loads from the network', 'ネットワークから取得したものを実行します'),
  ],
  [
    /(?:^|[\s;&|(])(?:shutdown|reboot|halt|poweroff|kill|killall|pkill)\b/,
    phrase('it stops programs or the machine', 'プログラムやマシンを止めます'),
  ],
]

/** Why somebody should look twice; nothing when the words are harmless and clear. */
export function dangerOf(command: string): Phrase | undefined {
  return DESTRUCTIVE.find(([pattern]) => pattern.test(command))?.[1] ?? unclear(command)
}

/** The words of each command in a pipe. */
function pipeOf(command: string): readonly (readonly string[])[] {
  const pipe: string[][] = [[]]
  for (const word of wordsOf(command) ?? []) {
    if (word === '|') pipe.push([])
    else pipe.at(-1)?.push(word)
  }
  return pipe
}

/** As a shell splits them, without expanding anything; nothing where a quote is not closed. */
function wordsOf(command: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < command.length; at++) {
    const letter = command.charAt(at)
    if (quote !== '') {
      if (letter === quote) quote = ''
      else if (letter === '\\' && quote === '"' && at + 1 < command.length) word = (word ?? '') + command.charAt(++at)
      else word = (word ?? '') + letter
    } else if (letter === "'" || letter === '"') {
      quote = letter
      word ??= ''
    } else if (letter === '\\') {
      if (at + 1 === command.length) return undefined
      word = (word ?? '') + command.charAt(++at)
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + letter
  }
  if (quote !== '') return undefined
  if (word !== undefined) words.push(word)
  return words
}

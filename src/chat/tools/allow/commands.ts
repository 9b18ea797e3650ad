/** What can be told of a shell command before it runs: whether it only reads, and what about it is dangerous. */
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
export function unclear(command: string): string | undefined {
  if (/[\n\r]/.test(command)) return 'it has several lines'
  const words = wordsOf(command)
  if (!words || words.length === 0) return 'it cannot be parsed'
  const joining = JOINING.find((piece) => command.includes(piece))
  if (joining !== undefined) return `it contains ${joining}`
  if (words.some((word) => word !== '|' && word.includes('|'))) return 'it contains |'
  for (const [name, ...rest] of pipeOf(command)) {
    if (name === undefined) return 'it cannot be parsed'
    if (name === 'find' && rest.some((word) => FIND_ACTIONS.some((action) => word.includes(action))))
      return 'find runs, deletes or writes something'
    if (name === 'grep' && rest.some((word) => /^-[a-zA-Z]*P/.test(word) || word === '--perl-regexp'))
      return 'grep runs a Perl expression'
  }
  return undefined
}

/** Commands that destroy or send away what no checkpoint brings back. */
const DESTRUCTIVE: readonly (readonly [RegExp, string])[] = [
  [/(?:^|[\s;&|(])(?:sudo|doas|su)\s/, 'it runs as another user'],
  [/(?:^|[\s;&|(])rm\s+(?:\S+\s+)*-\w*[rRf]/, 'it deletes files'],
  [/(?:^|[\s;&|(])(?:dd|mkfs\S*|shred|fdisk|wipefs)\s/, 'it writes to disks'],
  [/(?:^|[\s;&|(])(?:chmod|chown)\s+(?:\S+\s+)*-\w*R/, 'it changes owners or modes of whole folders'],
  [
    /\bgit\s+(?:\S+\s+)*(?:reset\s+(?:\S+\s+)*--hard|clean\s+(?:\S+\s+)*-\w*[fd]|push\s+(?:\S+\s+)*(?:-f\b|--force))/,
    'it discards work in git',
  ],
  [/\b(?:curl|wget)\b[^|]*\|\s*(?:\w*sh|python\d?|node|perl|ruby)\b/, 'it runs what it loads from the network'],
  [/(?:^|[\s;&|(])(?:shutdown|reboot|halt|poweroff|kill|killall|pkill)\b/, 'it stops programs or the machine'],
]

/** Why somebody should look twice; nothing when the words are harmless and clear. */
export function dangerOf(command: string): string | undefined {
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

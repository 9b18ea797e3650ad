/** Finds commands that can destroy something or hide what they do: the reason, and the place in the text. */
import { parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import type { TextSpan } from '../../../model/excerpt.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { findArgumentDanger, findStartedPrograms, INTERPRETER, programNameOf, SHELLS } from './started-programs.ts'

interface Danger {
  readonly names: RegExp
  /** Whether the use is dangerous, by its arguments. */
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
    reason: phrase('it changes owners or modes of folders', 'フォルダー全体の所有者や権限を変えます'),
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

const RUNS_DOWNLOADED = phrase('it runs code from the network', 'ネットワークから取得したものを実行します')

/** Why the user should look twice; undefined if the command is harmless and clear. */
export const dangerOf = (command: string): Phrase | undefined => findDestruction(command) ?? findUnclear(command)

/** What a command destroys or runs. Ignores commands that are only unclear. */
function findDestruction(command: string): Phrase | undefined {
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

/** Why the effect of a command cannot be determined from its text; undefined if it can. */
function findUnclear(command: string): Phrase | undefined {
  const pipe = parsePlainPipe(command)
  if (!pipe.ok) return pipe.reason
  return pipe.commands.map(findArgumentDanger).find((reason) => reason !== undefined)
}

/** Further spans are only counted among the hidden lines. */
const MAX_SPANS = 20
const WORD = /[^\s;&|()`]+/g

const isDestructive = (text: string): boolean => findDestruction(text) !== undefined

/** In text order. */
export function findDangerSpans(command: string): readonly TextSpan[] {
  const spans: TextSpan[] = []
  let from = 0
  for (const line of commandLinesOf(command)) {
    if (!isDestructive(command.slice(line.start, line.end))) continue
    // A danger that spans several lines is between those that are dangerous on their own.
    addSpans(command, { start: from, end: line.start }, spans)
    addSpans(command, line, spans)
    from = line.end
  }
  addSpans(command, { start: from, end: command.length }, spans)
  return spans.sort((a, b) => a.start - b.start)
}

/** In a unified diff: dangerous lines that it adds. */
export function findDangerousAdditions(diff: string): readonly TextSpan[] {
  return linesOf(diff)
    .filter(
      ({ start, end }) => /^\+(?!\+\+ )/.test(diff.slice(start, end)) && isDestructive(diff.slice(start + 1, end)),
    )
    .slice(0, MAX_SPANS)
}

function linesOf(text: string): readonly TextSpan[] {
  const lines: TextSpan[] = []
  for (let start = 0; start <= text.length; ) {
    const at = text.indexOf('\n', start)
    const end = at < 0 ? text.length : at
    lines.push({ start, end })
    start = end + 1
  }
  return lines
}

/** Lines joined by a trailing backslash count as one. */
function commandLinesOf(text: string): readonly TextSpan[] {
  const logicalLines: TextSpan[] = []
  let start: number | undefined
  for (const line of linesOf(text)) {
    start ??= line.start
    if (
      /(?<!\\)(?:\\\\)*\\$/.test(text.slice(Math.max(line.start, line.end - MAX_BACKSLASHES), line.end)) &&
      line.end < text.length
    )
      continue
    logicalLines.push({ start, end: line.end })
    start = undefined
  }
  return logicalLines
}

const MAX_BACKSLASHES = 1000

function addSpans(text: string, { start, end }: TextSpan, spans: TextSpan[]): void {
  for (let from = start; spans.length < MAX_SPANS && isDestructive(text.slice(from, end)); ) {
    const span = narrowSpan(text, from, end)
    if (span.start > from) addSpans(text, { start: from, end: span.start }, spans)
    spans.push(span)
    from = span.end
  }
}

/** Narrows a span to the words that matter, by testing parts of the text. */
function narrowSpan(text: string, from: number, to: number): TextSpan {
  const words = Array.from(text.slice(from, to).matchAll(WORD), ({ 0: word, index }) => ({
    start: from + index,
    end: from + index + word.length,
  }))
  const last = binarySearch(words.length - 1, (at) => isDestructive(text.slice(from, words[at]?.end)))
  const end = words[last]?.end ?? to
  const back = binarySearch(last, (at) => isDestructive(text.slice(words[last - at]?.start, end)))
  return { start: words[last - back]?.start ?? from, end: Math.max(end, from + 1) }
}

/**
 * Finds by bisection an index at which the test holds but not at the one before. @param max an index at which it holds
 */
function binarySearch(max: number, test: (at: number) => boolean): number {
  let low = 0
  let high = Math.max(0, max)
  while (low < high) {
    const middle = (low + high) >> 1
    if (test(middle)) high = middle
    else low = middle + 1
  }
  return high
}

/** Finds the stretches of a command, or of a change, that make it dangerous: whoever is asked always sees them. */
import type { TextSpan } from '../../../model/excerpt.ts'
import { findDestruction } from './danger.ts'

/** More are not pointed out; they are counted as lines that are not shown. */
const MAX_SPANS = 20
/** Where a word of a shell may begin or end. */
const WORD = /[^\s;&|()`]+/g

const isDestructive = (text: string): boolean => findDestruction(text) !== undefined

/** In the order in which they stand. */
export function findDangerSpans(command: string): readonly TextSpan[] {
  const spans: TextSpan[] = []
  let from = 0
  for (const line of commandLinesOf(command)) {
    if (!isDestructive(command.slice(line.start, line.end))) continue
    // What is spread over several lines stands between those that are dangerous by themselves.
    addSpans(command, { start: from, end: line.start }, spans)
    addSpans(command, line, spans)
    from = line.end
  }
  addSpans(command, { start: from, end: command.length }, spans)
  return spans.sort((a, b) => a.start - b.start)
}

/** Of a unified diff: lines that it adds. */
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

/** Lines that a backslash at their end joins are one. */
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

/** Looked at before the end of a line. */
const MAX_BACKSLASHES = 1000

function addSpans(text: string, { start, end }: TextSpan, spans: TextSpan[]): void {
  for (let from = start; spans.length < MAX_SPANS && isDestructive(text.slice(from, end)); ) {
    const span = narrowSpan(text, from, end)
    if (span.start > from) addSpans(text, { start: from, end: span.start }, spans)
    spans.push(span)
    from = span.end
  }
}

/** The words that matter. Asks about parts of the text only, because the rules are not known here. */
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

/** By halving: some index at which it holds, though not at the one before. @param max where it is known to hold */
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

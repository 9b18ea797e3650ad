/** Tells code from words in Markdown, line by line: what stands in code is left as it is. */

/** A fence that no line of the text can close. */
export function fenceText(text: string, language = ''): string {
  const longest = text.match(/`{3,}/g)?.reduce((maximum, run) => Math.max(maximum, run.length), 2) ?? 2
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}`
}

export interface MarkdownSection {
  readonly kind: 'words' | 'code'
  /** Of code with its fences. */
  readonly lines: readonly string[]
  /** Whether its fence was closed. */
  readonly isClosed: boolean
}

export interface MarkdownSections {
  readonly sections: readonly MarkdownSection[]
  /** The fence that is still open at the end. */
  readonly open: string | undefined
}

/** In quotes and lists, too. */
const FENCE_OPENING = /^(?:[ \t]|>|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})([^\n]*)$/
const FENCE_CLOSING = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/

/** Blank lines end a stretch of words: no code span goes across them. */
export function splitFences(text: string): MarkdownSections {
  const sections: { kind: MarkdownSection['kind']; lines: string[]; isClosed: boolean }[] = []
  let fence: string | undefined
  const add = (kind: MarkdownSection['kind'], line: string, isNew: boolean, isClosed = false): void => {
    const last = sections.at(-1)
    if (isNew || last?.kind !== kind) sections.push({ kind, lines: [line], isClosed })
    else {
      last.lines.push(line)
      last.isClosed = isClosed
    }
  }
  let wasBlank = true
  for (const line of text.split('\n')) {
    const [, opening = '', info = ''] = (fence === undefined && FENCE_OPENING.exec(line)) || []
    if (fence === undefined && opening !== '' && !(opening.startsWith('`') && info.includes('`'))) {
      fence = opening
      add('code', line, true)
    } else if (fence !== undefined) {
      const [, closing = ''] = FENCE_CLOSING.exec(line) ?? []
      const isClosed = closing.startsWith(fence)
      add('code', line, false, isClosed)
      if (isClosed) fence = undefined
    } else {
      const isBlank = line.trim() === ''
      add('words', line, isBlank || wasBlank)
      wasBlank = isBlank
    }
  }
  return { sections, open: fence }
}

/**
 * What stands between backticks stays; the rest is given to the function. A span across lines is none for a reader that
 * ends the paragraph between them, and then others are: all of it is words.
 */
export function mapOutsideCode(words: string, change: (text: string) => string): string {
  const spans = findCodeSpans(words)
  if (spans.some(({ start, end }) => words.slice(start, end).includes('\n'))) return change(words)
  let result = ''
  let at = 0
  for (const { start, end } of spans) {
    result += change(words.slice(at, start)) + words.slice(start, end)
    at = end
  }
  return result + change(words.slice(at))
}

/** A run of backticks is closed by the next one that is as long. */
function findCodeSpans(words: string): readonly { readonly start: number; readonly end: number }[] {
  const runs = Array.from(words.matchAll(/(?<!\\)`+/g), ({ index, 0: run }) => ({
    start: index,
    end: index + run.length,
  }))
  const next = new Map<number, number>()
  const closing = runs.map(() => -1)
  for (let at = runs.length - 1; at >= 0; at--) {
    const length = (runs[at]?.end ?? 0) - (runs[at]?.start ?? 0)
    closing[at] = next.get(length) ?? -1
    next.set(length, at)
  }
  const spans: { start: number; end: number }[] = []
  for (let at = 0; at < runs.length; at++) {
    const [open, close] = [runs[at], runs[closing[at] ?? -1]]
    if (!open || !close) continue
    spans.push({ start: open.start, end: close.end })
    at = closing[at] ?? at
  }
  return spans
}

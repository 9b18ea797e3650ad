/** Joins lines that a terminal or an encoder has wrapped, so that a token over several lines becomes visible. */
import type { TextRun } from './scan-text.ts'
import type { RedactionSpan } from './span.ts'

export interface WrappedLines {
  readonly text: string
  /** Whether a line ends within a span of the text. */
  isWrapped(span: RedactionSpan): boolean
  /** Where a span of the text is in the original. */
  locate(span: RedactionSpan): RedactionSpan
}

/** Nothing wraps at fewer columns. */
const MIN_COLUMNS = 40
const MAX_COLUMNS = 400
const MAX_LINES = 30
/** All of a line, or up to a quote or a blank if it is the last one. Assignments and words continue nothing. */
const CONTINUATION = /\r?\n[ \t]{0,16}([\w+/.-]{4,400}={0,2})(?=["'`),;]{0,3}(\s|$))/y

/** A short part of a token with dots ends the line. */
const TO_LINE_END = /[\w+/=.-]{0,100}(?=\r?\n)/y

/** @param runs digits of base64 in the text, in order */
export function wrappedLinesOf(text: string, runs: readonly TextRun[]): readonly WrappedLines[] {
  const found: WrappedLines[] = []
  let done = 0
  for (const run of runs) {
    TO_LINE_END.lastIndex = run.end
    const rest = run.end < done ? undefined : TO_LINE_END.exec(text)?.[0]
    if (rest === undefined) continue
    const end = run.end + rest.length
    const start = text.lastIndexOf('\n', end - 1) + 1
    const columns = end - start
    if (columns < MIN_COLUMNS || columns > MAX_COLUMNS) continue
    const lines = [{ start, end }]
    for (let at = end; lines.length <= MAX_LINES; ) {
      CONTINUATION.lastIndex = at
      const [all = '', line = ''] = CONTINUATION.exec(text) ?? []
      if (line === '' || line.length > columns || !isTokenPart(line)) break
      at += all.length
      lines.push({ start: at - line.length, end: at })
    }
    done = lines.at(-1)?.end ?? end
    if (lines.length > 1 && lines.length <= MAX_LINES) found.push(joined(text, lines))
  }
  return found
}

/** A short rest may be anything but a word. */
const isTokenPart = (line: string): boolean => /\d/.test(line) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(line)

function joined(text: string, lines: readonly TextRun[]): WrappedLines {
  const toOriginal = (position: number): number => {
    let rest = position
    for (const { start, end } of lines) {
      if (rest <= end - start) return start + rest
      rest -= end - start
    }
    return lines.at(-1)?.end ?? 0
  }
  const locate = ({ start, end, kind }: RedactionSpan): RedactionSpan => ({
    start: toOriginal(start + 1) - 1,
    end: toOriginal(end),
    kind,
  })
  return {
    text: lines.map(({ start, end }) => text.slice(start, end)).join(''),
    isWrapped: (span) => /\n/.test(text.slice(locate(span).start, locate(span).end)),
    locate,
  }
}

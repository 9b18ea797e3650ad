/** Markdown written to a terminal while it streams: words as they come, blocks where they end, nothing moved afterwards. */
import { paint } from '../../view/paint.ts'
import { PrintableStream } from '../output/printable-stream.ts'
import { WordWrapper } from '../output/wrapped.ts'
import { isIncompletePrefix, type LinePrefix, parseLinePrefix } from './block-head.ts'
import { CodeHighlighter } from './code.ts'
import { parseInline } from './inline.ts'
import { isTableLine, renderMarkdownTable } from './table.ts'

/** Longer lines are tiring to read. */
const MAX_COLUMNS = 100

interface OpenLine {
  readonly block: LinePrefix
  readonly wrapper: WordWrapper
  /** The letter before what comes next. */
  previous: string
}

interface OpenCode {
  readonly lines: CodeHighlighter
  readonly fence: string
  readonly indent: number
}

export class MarkdownStream {
  readonly #columns: () => number
  #pending = ''
  readonly #printable = new PrintableStream()
  #line: OpenLine | undefined
  #code: OpenCode | undefined
  #table: string[] = []
  /** Blank lines are written one at a time, and not at the beginning. */
  #isAfterBlank = true

  constructor(columns: () => number) {
    this.#columns = columns
  }

  /** What can be written now. Has no escape sequences but our own. */
  add(text: string): string {
    this.#pending += this.#printable.add(text)
    return this.#drain(false)
  }

  /** All that is left. What follows begins on a line of its own. */
  end(): string {
    this.#pending += this.#printable.end()
    const isOpen = this.#pending !== '' || this.#line !== undefined
    if (isOpen && !this.#pending.endsWith('\n')) this.#pending += '\n'
    const out = this.#drain(true) + this.#endTable()
    this.#code = undefined
    this.#isAfterBlank = true
    return out
  }

  #drain(isComplete: boolean): string {
    let out = ''
    for (;;) {
      const step = this.#code
        ? this.#codeLine(this.#code)
        : this.#line
          ? this.#continueLine(this.#line)
          : this.#startLine(isComplete)
      if (step === undefined) return out
      out += step
    }
  }

  /** Up to the end of the line; nothing where that has not come. */
  #takeLine(): string | undefined {
    const end = this.#pending.indexOf('\n')
    if (end < 0) return undefined
    const line = this.#pending.slice(0, end)
    this.#pending = this.#pending.slice(end + 1)
    return line
  }

  #codeLine({ lines, fence, indent }: OpenCode): string | undefined {
    const line = this.#takeLine()
    if (line === undefined) return undefined
    const text = line.trim()
    if (text.startsWith(fence) && /^(?:`+|~+)$/.test(text)) {
      this.#code = undefined
      return ''
    }
    const content = line.slice(0, indent).trimStart() + line.slice(indent)
    return `${' '.repeat(indent + 2)}${lines.highlightLine(content)}\n`
  }

  #continueLine(line: OpenLine): string | undefined {
    const { block, wrapper } = line
    const end = this.#pending.indexOf('\n')
    if (end < 0 && this.#pending === '') return undefined
    const text = end < 0 ? this.#pending : this.#pending.slice(0, end)
    const { spans, rest } = parseInline(text, end >= 0, block.styles, line.previous)
    line.previous = text.slice(0, text.length - rest.length).at(-1) ?? line.previous
    if (end < 0) {
      this.#pending = rest
      return wrapper.add(spans) || undefined
    }
    this.#pending = this.#pending.slice(end + 1)
    this.#line = undefined
    return `${wrapper.add(spans)}${wrapper.end()}\n`
  }

  /** At the beginning of a line. */
  #startLine(isComplete: boolean): string | undefined {
    const hasEnd = this.#pending.includes('\n')
    if (this.#pending === '') return undefined
    if (!hasEnd && !isComplete && isIncompletePrefix(this.#pending)) return undefined
    if (isTableLine(this.#pending)) {
      const row = this.#takeLine()
      if (row === undefined) return undefined
      this.#table.push(row)
      return ''
    }
    if (this.#table.length > 0) return this.#endTable()
    return hasEnd ? this.#startBlock(this.#pending.slice(0, this.#pending.indexOf('\n'))) : this.#beginLine()
  }

  /** What can only be told from a whole line. */
  #startBlock(line: string): string {
    if (line.trim() === '') {
      this.#takeLine()
      const out = this.#isAfterBlank ? '' : '\n'
      this.#isAfterBlank = true
      return out
    }
    const fence = /^(\s*)(`{3,}|~{3,})([^`]*)$/.exec(line)
    if (fence) {
      this.#takeLine()
      this.#isAfterBlank = false
      const indent = Math.min(12, fence[1]?.length ?? 0)
      this.#code = {
        lines: new CodeHighlighter(fence[3]?.trim().split(/\s/)[0] ?? ''),
        fence: fence[2] ?? '```',
        indent,
      }
      return ''
    }
    if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) {
      this.#takeLine()
      this.#isAfterBlank = false
      return `${paint.dim('─'.repeat(Math.min(40, this.#width())))}\n`
    }
    return this.#beginLine()
  }

  #beginLine(): string {
    const block = parseLinePrefix(this.#pending)
    this.#pending = this.#pending.slice(block.length)
    this.#isAfterBlank = false
    this.#line = { block, wrapper: new WordWrapper(this.#width(), block.indent, block.column), previous: ' ' }
    return block.head
  }

  #endTable(): string {
    if (this.#table.length === 0) return ''
    this.#isAfterBlank = false
    return renderMarkdownTable(this.#table.splice(0), this.#columns() - 1)
  }

  #width(): number {
    return Math.min(MAX_COLUMNS, this.#columns() - 1)
  }
}

/** A whole text. */
export function renderMarkdownText(text: string, columns: () => number): string {
  const stream = new MarkdownStream(columns)
  return stream.add(text) + stream.end()
}

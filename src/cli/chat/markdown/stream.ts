/** Markdown written to a terminal while it streams: words as they come, blocks where they end, nothing moved afterwards. */
import { paint } from '../../view/paint.ts'
import { PrintableStream } from '../output/printable-stream.ts'
import { Wrapped } from '../output/wrapped.ts'
import { type Block, headOf, isUndecided } from './block-head.ts'
import { CodeLines } from './code.ts'
import { takeInline } from './inline.ts'
import { isTableLine, tableText } from './table.ts'

/** Longer lines are tiring to read. */
const MOST_COLUMNS = 100

interface OpenLine {
  readonly block: Block
  readonly wrapped: Wrapped
  /** The letter before what comes next. */
  previous: string
}

interface OpenCode {
  readonly lines: CodeLines
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
    return this.#all(false)
  }

  /** All that is left. What follows begins on a line of its own. */
  end(): string {
    this.#pending += this.#printable.end()
    const isOpen = this.#pending !== '' || this.#line !== undefined
    if (isOpen && !this.#pending.endsWith('\n')) this.#pending += '\n'
    const out = this.#all(true) + this.#endTable()
    this.#code = undefined
    this.#isAfterBlank = true
    return out
  }

  #all(isWhole: boolean): string {
    let out = ''
    for (;;) {
      const step = this.#code ? this.#codeLine(this.#code) : this.#line ? this.#goOn(this.#line) : this.#begin(isWhole)
      if (step === undefined) return out
      out += step
    }
  }

  /** Up to the end of the line; nothing where that has not come. */
  #wholeLine(): string | undefined {
    const end = this.#pending.indexOf('\n')
    if (end < 0) return undefined
    const line = this.#pending.slice(0, end)
    this.#pending = this.#pending.slice(end + 1)
    return line
  }

  #codeLine({ lines, fence, indent }: OpenCode): string | undefined {
    const line = this.#wholeLine()
    if (line === undefined) return undefined
    const text = line.trim()
    if (text.startsWith(fence) && /^(?:`+|~+)$/.test(text)) {
      this.#code = undefined
      return ''
    }
    const own = line.slice(0, indent).trimStart() + line.slice(indent)
    return `${' '.repeat(indent + 2)}${lines.next(own)}\n`
  }

  #goOn(line: OpenLine): string | undefined {
    const { block, wrapped } = line
    const end = this.#pending.indexOf('\n')
    if (end < 0 && this.#pending === '') return undefined
    const text = end < 0 ? this.#pending : this.#pending.slice(0, end)
    const { spans, rest } = takeInline(text, end >= 0, block.looks, line.previous)
    line.previous = text.slice(0, text.length - rest.length).at(-1) ?? line.previous
    if (end < 0) {
      this.#pending = rest
      return wrapped.add(spans) || undefined
    }
    this.#pending = this.#pending.slice(end + 1)
    this.#line = undefined
    return `${wrapped.add(spans)}${wrapped.end()}\n`
  }

  /** At the beginning of a line. */
  #begin(isWhole: boolean): string | undefined {
    const hasEnd = this.#pending.includes('\n')
    if (this.#pending === '') return undefined
    if (!hasEnd && !isWhole && isUndecided(this.#pending)) return undefined
    if (isTableLine(this.#pending)) {
      const row = this.#wholeLine()
      if (row === undefined) return undefined
      this.#table.push(row)
      return ''
    }
    if (this.#table.length > 0) return this.#endTable()
    return hasEnd ? this.#wholeBlock(this.#pending.slice(0, this.#pending.indexOf('\n'))) : this.#beginLine()
  }

  /** What can only be told from a whole line. */
  #wholeBlock(line: string): string {
    if (line.trim() === '') {
      this.#wholeLine()
      const out = this.#isAfterBlank ? '' : '\n'
      this.#isAfterBlank = true
      return out
    }
    const fence = /^(\s*)(`{3,}|~{3,})([^`]*)$/.exec(line)
    if (fence) {
      this.#wholeLine()
      this.#isAfterBlank = false
      const indent = Math.min(12, fence[1]?.length ?? 0)
      this.#code = { lines: new CodeLines(fence[3]?.trim().split(/\s/)[0] ?? ''), fence: fence[2] ?? '```', indent }
      return ''
    }
    if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) {
      this.#wholeLine()
      this.#isAfterBlank = false
      return `${paint.dim('─'.repeat(Math.min(40, this.#width())))}\n`
    }
    return this.#beginLine()
  }

  #beginLine(): string {
    const block = headOf(this.#pending)
    this.#pending = this.#pending.slice(block.length)
    this.#isAfterBlank = false
    this.#line = { block, wrapped: new Wrapped(this.#width(), block.indent, block.column), previous: ' ' }
    return block.head
  }

  #endTable(): string {
    if (this.#table.length === 0) return ''
    this.#isAfterBlank = false
    return tableText(this.#table.splice(0), this.#columns() - 1)
  }

  #width(): number {
    return Math.min(MOST_COLUMNS, this.#columns() - 1)
  }
}

/** A whole text. */
export function markdownText(text: string, columns: () => number): string {
  const stream = new MarkdownStream(columns)
  return stream.add(text) + stream.end()
}

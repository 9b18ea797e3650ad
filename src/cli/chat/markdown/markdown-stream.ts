/** Renders Markdown in a terminal while it arrives. A line is final once its block type is known. */
import { paint } from '../../view/paint.ts'
import { textWidth } from '../../view/text-width.ts'
import { PrintableStream } from '../output/screen.ts'
import { type TextStyle, WordWrapper } from '../output/styled-text.ts'
import { colorDiffLine } from '../output/tool-result.ts'
import { isTableLine, parseInline, renderMarkdownTable } from './inline.ts'

interface LinePrefix {
  readonly length: number
  readonly head: string
  readonly column: number
  /** Printed before further lines of the same block. */
  readonly indent: string
  readonly styles: readonly TextStyle[]
}

const MAX_INDENT = 24

const INCOMPLETE_PREFIX =
  /^\s*(?:>\s?)*\s*(?:#{1,6}\s*|(?:[-*+]|\d{1,9}[.)])(?:\s+(?:\[[ xX]?\]?\s*)?)?|\d{1,9}|[-*_\s]+|[`~]+[^`\n]*)?$/
const MAX_PREFIX_LENGTH = 80

/** Whether the block type is still open. Beyond the limit, only a code fence can still be incomplete. */
const isIncompletePrefix = (text: string): boolean =>
  text.length < MAX_PREFIX_LENGTH ? INCOMPLETE_PREFIX.test(text) : /^\s*(?:`{3,}|~{3,})[^`\n]*$/.test(text)

function parseLinePrefix(text: string): LinePrefix {
  const quote = /^\s*((?:>[ \t]?)+)/.exec(text)
  const bar = quote ? '│ '.repeat(quote[1]?.match(/>/g)?.length ?? 1) : ''
  const inner = parseInnerPrefix(text.slice(quote?.[0].length ?? 0))
  const shownBar = bar === '' ? '' : paint.dim(bar)
  return {
    length: (quote?.[0].length ?? 0) + inner.length,
    head: shownBar + inner.head,
    column: textWidth(bar) + inner.column,
    indent: shownBar + inner.indent,
    styles: quote && inner.styles.length === 0 ? ['italic'] : inner.styles,
  }
}

function parseInnerPrefix(text: string): LinePrefix {
  const heading = /^\s{0,3}#{1,6}[ \t]+/.exec(text)
  if (heading) return { length: heading[0].length, head: '', column: 0, indent: '', styles: ['heading'] }
  const item = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(\[[ xX]\][ \t]+)?(?=\S|$)/.exec(text)
  const spaces = indentText((item ?? /^([ \t]*)/.exec(text))?.[1] ?? '')
  if (!item) {
    const blank = /^[ \t]*/.exec(text)?.[0].length ?? 0
    return { length: blank, head: spaces, column: spaces.length, indent: spaces, styles: [] }
  }
  const bullet = `${/\d/.test(item[2] ?? '') ? item[2] : '•'} ${checkboxText(item[3])}`
  const column = spaces.length + textWidth(bullet)
  return { length: item[0].length, head: spaces + bullet, column, indent: ' '.repeat(column), styles: [] }
}

function checkboxText(task: string | undefined): string {
  if (task === undefined) return ''
  return /x/i.test(task) ? '☑ ' : '☐ '
}

const indentText = (blank: string): string => ' '.repeat(Math.min(MAX_INDENT, blank.replaceAll('\t', '    ').length))

const MAX_COLUMNS = 100

interface OpenLine {
  readonly block: LinePrefix
  readonly wrapper: WordWrapper
  /** The character before the next text. */
  previous: string
}

interface OpenCode {
  readonly lines: CodeHighlighter
  readonly fence: string
  readonly indent: number
}

export class MarkdownStream {
  readonly #columns: () => number
  readonly #maxColumns: number
  #pending = ''
  readonly #printable = new PrintableStream()
  #line: OpenLine | undefined
  #code: OpenCode | undefined
  #table: string[] = []
  /** Several blank lines become one; blank lines at the start are dropped. */
  #isAfterBlank = true

  constructor(columns: () => number, maxColumns = MAX_COLUMNS) {
    this.#columns = columns
    this.#maxColumns = maxColumns
  }

  /** Returns the text that is ready. It contains no escape sequences except ours. */
  add(text: string): string {
    this.#pending += this.#printable.add(text)
    return this.#drain(false)
  }

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

  /** Blocks that only a complete line identifies. */
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
    return Math.min(this.#maxColumns, this.#columns() - 1)
  }
}

/** @param maxColumns longer lines are hard to read; infinite for a program */
export function renderMarkdownText(text: string, columns: () => number, maxColumns?: number): string {
  const stream = new MarkdownStream(columns, maxColumns)
  return stream.add(text) + stream.end()
}

/** Subdued highlighting, line by line: comments are dimmed; strings and keywords are coloured. */
interface HighlightRules {
  /** Starts a comment that ends with the line. */
  readonly comment?: string
  /** Start and end of a comment that may span lines. */
  readonly block?: readonly [begin: string, end: string]
  /** Quotes of strings that may span lines, longest first. */
  readonly long?: readonly string[]
  readonly quotes: string
}

const C_RULES: HighlightRules = { comment: '//', block: ['/*', '*/'], quotes: '"\'' }
const SCRIPT_RULES: HighlightRules = { ...C_RULES, long: ['`'] }
const HASH_RULES: HighlightRules = { comment: '#', quotes: '"\'' }

const RULES_BY_LANGUAGE: ReadonlyMap<string, HighlightRules> = new Map([
  ...forLanguages('c cpp c++ cc h hpp java cs csharp kotlin kt swift scala dart php', C_RULES),
  ...forLanguages('rust rs', { ...C_RULES, quotes: '"' }),
  ...forLanguages('go', SCRIPT_RULES),
  ...forLanguages('js javascript ts typescript jsx tsx mjs json jsonc json5', SCRIPT_RULES),
  ...forLanguages('css scss less', { block: ['/*', '*/'], quotes: '"\'' }),
  ...forLanguages('py python', { ...HASH_RULES, long: ['"""', "'''"] }),
  ...forLanguages(
    'sh bash zsh shell console ruby rb perl yaml yml toml ini make makefile dockerfile r elixir nix',
    HASH_RULES,
  ),
  ...forLanguages('sql lua haskell hs ada', { comment: '--', quotes: '"\'' }),
  ...forLanguages('html xml svg vue svelte', { block: ['<!--', '-->'], quotes: '"\'' }),
])

function forLanguages(names: string, language: HighlightRules): readonly (readonly [string, HighlightRules])[] {
  return names.split(' ').map((name) => [name, language])
}

const KEYWORDS = new Set(
  `abstract and as assert async await begin bool boolean break case catch char class const continue crate def default
  defer del delete do double elif else end enum except export extends extern false final finally float fn for foreach from
  func function global go goto if impl implements import in instanceof int interface is lambda let local long loop match mod
  module move mut namespace new nil none not null of operator or package pass private protected pub public raise readonly ref
  return select self static struct super switch template then this throw trait true try type typeof undefined union unless
  unsafe until use using var virtual void when where while with yield None True False SELECT FROM WHERE INSERT INTO UPDATE
  SET DELETE CREATE TABLE JOIN LEFT ON AND OR NOT NULL ORDER BY GROUP LIMIT VALUES fi done esac echo`.split(/\s+/),
)

const MAX_HIGHLIGHTED_LENGTH = 2000

interface OpenToken {
  readonly end: string
  shade(text: string): string
}

class CodeHighlighter {
  readonly #language: HighlightRules | undefined
  readonly #isDiff: boolean
  /** The end of a comment or string that started on an earlier line. */
  #open: OpenToken | undefined

  constructor(name: string) {
    this.#isDiff = /^(?:diff|patch)$/i.test(name)
    this.#language = RULES_BY_LANGUAGE.get(name.toLowerCase())
  }

  highlightLine(line: string): string {
    if (this.#isDiff) return colorDiffLine(line)
    return this.#language && line.length <= MAX_HIGHLIGHTED_LENGTH ? this.#highlight(line, this.#language) : line
  }

  #highlight(line: string, language: HighlightRules): string {
    let out = ''
    let at = 0
    while (at < line.length) {
      const piece = this.#token(line, at, language)
      out += piece.shown
      at += piece.length
    }
    return out
  }

  #token(line: string, at: number, language: HighlightRules): { readonly shown: string; readonly length: number } {
    if (this.#open) return this.#untilEnd(line, at, 0, this.#open)
    const rest = line.slice(at)
    const { comment, block, long = [], quotes } = language
    if (block && rest.startsWith(block[0]))
      return this.#untilEnd(line, at, block[0].length, { end: block[1], shade: paint.dim })
    if (comment !== undefined && rest.startsWith(comment) && (comment !== '#' || /^$|\s/.test(line[at - 1] ?? '')))
      return { shown: paint.dim(rest), length: rest.length }
    const quote = long.find((one) => rest.startsWith(one))
    if (quote !== undefined) return this.#untilEnd(line, at, quote.length, { end: quote, shade: paint.green })
    if (quotes.includes(rest[0] ?? '')) {
      const text = rest[0] === '"' ? /^"(?:[^"\\]|\\.)*"?/.exec(rest)?.[0] : /^'(?:[^'\\]|\\.)*'/.exec(rest)?.[0]
      return text === undefined ? { shown: "'", length: 1 } : { shown: paint.green(text), length: text.length }
    }
    const word = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(rest)?.[0]
    if (word !== undefined) return { shown: KEYWORDS.has(word) ? paint.cyan(word) : word, length: word.length }
    const other = /^(?:\d[\w.]*|[^\p{L}\p{N}_$"'`#/<*-]+|[\s\S])/u.exec(rest)?.[0] ?? ''
    return { shown: other, length: Math.max(1, other.length) }
  }

  #untilEnd(line: string, at: number, startLength: number, open: OpenToken) {
    const end = line.indexOf(open.end, at + startLength)
    this.#open = end < 0 ? open : undefined
    const length = (end < 0 ? line.length : end + open.end.length) - at
    return { shown: open.shade(line.slice(at, at + length)), length }
  }
}

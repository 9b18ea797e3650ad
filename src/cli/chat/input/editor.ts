/** The line editor: text, caret and what each key does. Pure. */
import { toTypable } from '../../../lib/text.ts'
import { splitGraphemes } from '../../view/text-width.ts'
import { type Completer, type CompletionItem, commonPrefix } from './completions.ts'
import type { TerminalKey } from './keys.ts'
import { PromptHistory } from './prompt-history.ts'

export interface TextLine {
  readonly text: string
  readonly at: number
}

const EMPTY_LINE: TextLine = { text: '', at: 0 }

export const toTextLine = (text: string): TextLine => ({ text, at: text.length })

const insertText = ({ text, at }: TextLine, inserted: string): TextLine => ({
  text: text.slice(0, at) + inserted + text.slice(at),
  at: at + inserted.length,
})

function cutToPosition({ text, at }: TextLine, other: number): { readonly line: TextLine; readonly taken: string } {
  const from = Math.min(at, other)
  const to = Math.max(at, other)
  return { line: { text: text.slice(0, from) + text.slice(to), at: from }, taken: text.slice(from, to) }
}

const moveCursor = ({ text }: TextLine, at: number): TextLine => ({
  text,
  at: Math.max(0, Math.min(text.length, at)),
})

function previousPosition({ text, at }: TextLine): number {
  if (at === 0) return 0
  const start = startOfLine({ text, at })
  if (start === at) return at - 1
  return at - (splitGraphemes(text.slice(start, at)).at(-1)?.length ?? 1)
}

function nextPosition({ text, at }: TextLine): number {
  if (at >= text.length) return text.length
  if (text[at] === '\n') return at + 1
  return at + (splitGraphemes(text.slice(at, endOfLine({ text, at })))[0]?.length ?? 1)
}

/** `lastIndexOf` treats a negative position as 0, so 0 is handled first. */
const startOfLine = ({ text, at }: TextLine): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1)

function endOfLine({ text, at }: TextLine): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

const IN_WORD = /[\p{L}\p{N}_]/u
const BETWEEN_WORDS = /[^\p{L}\p{N}_]/u
const NEXT_WORD = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u

const previousWordStart = ({ text, at }: TextLine): number => skipBack(text, skipBack(text, at, BETWEEN_WORDS), IN_WORD)

/**
 * Steps back one character at a time: a pattern anchored at the cursor would be tried at every position of the text.
 */
function skipBack(text: string, at: number, kind: RegExp): number {
  let position = at
  while (position > 0) {
    const isPair = position > 1 && (text.codePointAt(position - 2) ?? 0) > 0xffff
    const previous = position - (isPair ? 2 : 1)
    if (!kind.test(text.slice(previous, position))) break
    position = previous
  }
  return position
}

const nextWordEnd = ({ text, at }: TextLine): number => at + (NEXT_WORD.exec(text.slice(at))?.[0].length ?? 0)

/** To the previous white space, as Ctrl-W deletes. */
const previousChunkStart = ({ text, at }: TextLine): number => skipBack(text, skipBack(text, at, /\s/), /\S/)

/** The same column one line up; undefined on the first line. */
function positionAbove(line: TextLine): number | undefined {
  const start = startOfLine(line)
  if (start === 0) return undefined
  const above = startOfLine({ text: line.text, at: start - 1 })
  return Math.min(start - 1, above + line.at - start)
}

function positionBelow(line: TextLine): number | undefined {
  const end = endOfLine(line)
  if (end === line.text.length) return undefined
  return Math.min(endOfLine({ text: line.text, at: end + 1 }), end + 1 + line.at - startOfLine(line))
}

export type EditorAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'submit'; readonly text: string }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'end' }
  | { readonly kind: 'clear_screen' }
  | { readonly kind: 'suspend' }

export interface EditorOptions {
  readonly history?: PromptHistory
  readonly complete?: Completer
}

interface HistorySearch {
  readonly words: string
  readonly found: { readonly text: string; readonly at: number } | undefined
  readonly line: TextLine
}

const NO_ACTION: EditorAction = { kind: 'none' }

export class Editor {
  #line: TextLine = EMPTY_LINE
  #completions: readonly CompletionItem[] = []
  #search: HistorySearch | undefined
  #killed = ''
  readonly #history: PromptHistory
  readonly #complete: Completer

  constructor({ history = new PromptHistory(), complete = () => ({ from: 0, all: [] }) }: EditorOptions = {}) {
    this.#history = history
    this.#complete = complete
  }

  get line(): TextLine {
    return this.#search ? toTextLine(this.#search.found?.text ?? '') : this.#line
  }

  /** The candidates of the last Tab, while there are several. */
  get completions(): readonly CompletionItem[] {
    return this.#completions
  }

  /** The words of a history search in progress; `isFound` is false when no entry contains them. */
  get search(): { readonly words: string; readonly isFound: boolean } | undefined {
    return this.#search && { words: this.#search.words, isFound: this.#search.found !== undefined }
  }

  /** Replaces the text, for example by a queued prompt that is edited. */
  setText(text: string): void {
    this.#search = undefined
    this.#completions = []
    this.#line = toTextLine(text)
  }

  press(key: TerminalKey): EditorAction {
    this.#completions = []
    if (this.#search) return this.#searchKey(this.#search, key)
    if (key.kind === 'text') return this.#set(insertText(this.#line, key.text))
    if (key.kind === 'paste')
      return this.#set(insertText(this.#line, parseDroppedFile(key.text) ?? cleanPaste(key.text)))
    const moved = CURSOR_MOVES[key.name]?.(this.#line)
    if (moved !== undefined) return this.#set(moveCursor(this.#line, moved))
    const cutTo = CUT_KEYS[key.name]?.(this.#line)
    if (cutTo !== undefined && !(key.name === 'C-d' && this.#line.text === '')) return this.#cut(key.name, cutTo)
    return this.#command(key.name)
  }

  #command(name: string): EditorAction {
    switch (name) {
      case 'enter':
        return this.#enter()
      case 'M-enter':
      case 'C-j':
        return this.#set(insertText(this.#line, '\n'))
      case 'tab':
        return this.#tab()
      case 'up':
      case 'C-p':
        return this.#moveOrRecall(positionAbove(this.#line), () => this.#history.older(this.#line.text))
      case 'down':
      case 'C-n':
        return this.#moveOrRecall(positionBelow(this.#line), () => this.#history.newer())
      case 'C-r':
        this.#search = { words: '', found: undefined, line: this.#line }
        return NO_ACTION
      case 'C-y':
        return this.#set(insertText(this.#line, this.#killed))
      case 'C-c':
        if (this.#line.text === '') return { kind: 'interrupt' }
        this.#history.reset()
        return this.#set(EMPTY_LINE)
      case 'C-d':
        return { kind: 'end' }
      case 'C-l':
        return { kind: 'clear_screen' }
      case 'C-z':
        return { kind: 'suspend' }
      default:
        return NO_ACTION
    }
  }

  #set(line: TextLine): EditorAction {
    this.#line = line
    return NO_ACTION
  }

  #cut(name: string, to: number): EditorAction {
    const { line, taken } = cutToPosition(this.#line, to)
    if (!/^(?:backspace|delete|C-d)$/.test(name)) this.#killed = taken
    return this.#set(line)
  }

  /** A backslash before the cursor starts a new line instead of sending. */
  #enter(): EditorAction {
    const { text, at } = this.#line
    if (at === text.length && text.endsWith('\\')) return this.#set(toTextLine(`${text.slice(0, -1)}\n`))
    this.#history.reset()
    return { kind: 'submit', text }
  }

  /** Moves within the text; from its first or last line, to the previous or next history entry. */
  #moveOrRecall(position: number | undefined, recallEntry: () => string | undefined): EditorAction {
    if (position !== undefined) return this.#set(moveCursor(this.#line, position))
    const text = recallEntry()
    return text === undefined ? NO_ACTION : this.#set(toTextLine(text))
  }

  #tab(): EditorAction {
    const { from, all } = this.#complete(this.#line)
    const [only] = all
    if (!only) return NO_ACTION
    const replaceWord = (text: string): EditorAction =>
      this.#set(insertText(cutToPosition(this.#line, from).line, text))
    if (all.length === 1) return replaceWord(only.isOpen ? only.text : `${only.text} `)
    this.#completions = all
    return replaceWord(commonPrefix(all))
  }

  #searchKey(search: HistorySearch, key: TerminalKey): EditorAction {
    const { words, found } = search
    if (key.kind !== 'key') return this.#findInHistory(words + key.text, found && found.at + 1)
    if (key.name === 'backspace') return this.#findInHistory(words.slice(0, -1))
    if (key.name === 'C-r') return this.#findInHistory(words, found?.at)
    this.#search = undefined
    if (key.name === 'C-g' || key.name === 'C-c') return this.#set(search.line)
    this.#line = found ? toTextLine(found.text) : search.line
    return key.name === 'escape' || key.name === 'tab' ? NO_ACTION : this.press(key)
  }

  #findInHistory(words: string, before?: number): EditorAction {
    if (!this.#search) return NO_ACTION
    const found = words === '' ? undefined : this.#history.find(words, before)
    const isOlder = words === this.#search.words
    this.#search = { ...this.#search, words, found: found ?? (isOlder ? this.#search.found : undefined) }
    return NO_ACTION
  }
}

const cleanPaste = (text: string): string => toTypable(text)

type FindPosition = (line: TextLine) => number

const CURSOR_MOVES: { readonly [name: string]: FindPosition } = {
  left: previousPosition,
  'C-b': previousPosition,
  right: nextPosition,
  'C-f': nextPosition,
  home: startOfLine,
  'C-a': startOfLine,
  end: endOfLine,
  'C-e': endOfLine,
  'C-left': previousWordStart,
  'M-left': previousWordStart,
  'M-b': previousWordStart,
  'C-right': nextWordEnd,
  'M-right': nextWordEnd,
  'M-f': nextWordEnd,
  'C-home': () => 0,
  'C-end': ({ text }) => text.length,
}

const CUT_KEYS: { readonly [name: string]: FindPosition } = {
  backspace: previousPosition,
  delete: nextPosition,
  'C-d': nextPosition,
  'C-w': previousChunkStart,
  'M-backspace': previousWordStart,
  'M-d': nextWordEnd,
  'C-u': startOfLine,
  'C-k': endOfLine,
}

/** Dropping a file onto a terminal pastes its path, quoted for a shell. */

/** Returns `@"path"` if the text is only the absolute path of an image or a document; otherwise undefined. */
function parseDroppedFile(pasted: string): string | undefined {
  const text = pasted.trim()
  const path =
    /^'([^'\n]+)'$/.exec(text)?.[1] ?? /^"([^"\n]+)"$/.exec(text)?.[1] ?? pathFromUrl(text) ?? unescapePath(text)
  if (path === undefined || !/^(?:\/|[A-Za-z]:\\).*\.(?:png|jpe?g|gif|webp|pdf)$/i.test(path) || path.includes('"'))
    return undefined
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `
}

/** Undefined if the path has a space that is not escaped. */
const unescapePath = (text: string): string | undefined =>
  /(?<!\\)\s/.test(text) ? undefined : text.replaceAll(/\\([ ()[\]'&!$`])/g, '$1')

function pathFromUrl(text: string): string | undefined {
  if (!/^file:\/\/\/\S+$/.test(text)) return undefined
  try {
    return decodeURIComponent(text.slice('file://'.length))
  } catch {
    return undefined
  }
}

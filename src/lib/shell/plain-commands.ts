/**
 * Reads a command line that bash runs exactly as its words say: a pipe of simple commands made of plain words.
 *
 * An allow-list of characters, not a shell: expansions, substitutions, redirections, braces, comments, assignments, reserved
 * words, joined commands and unusual whitespace are refused with a reason. Whoever judges a command by its words may rely on it:
 * bash starts these programs with these arguments and nothing else. `test/chat/tools/shell-fuzz.test.ts` compares it with bash.
 */
import { type Phrase, phrase } from '../../model/phrase.ts'

export interface PlainWord {
  /** Without quotes and backslashes: the argument that the program receives. */
  readonly value: string
  /**
   * Has an unquoted `*`, `?` or `[`: bash replaces it by the names of files that match, if there are any. They all begin with
   * the same letter, digit, `_`, `.` or `/`, so none of them is an option.
   */
  readonly isGlob: boolean
}

export interface PlainCommand {
  /** As it was typed, without surrounding blanks. */
  readonly text: string
  /** The name first; never empty. */
  readonly words: readonly PlainWord[]
}

export type PlainPipe =
  | { readonly ok: true; readonly commands: readonly PlainCommand[] }
  | { readonly ok: false; readonly reason: Phrase }

/** @param platform decides which bytes the shell's locale may take for a blank */
export function plainPipe(line: string, platform: NodeJS.Platform = process.platform): PlainPipe {
  try {
    return { ok: true, commands: new PlainReader(line, platform).pipe() }
  } catch (error) {
    if (error instanceof NotPlain) return { ok: false, reason: error.reason }
    throw error
  }
}

class NotPlain extends Error {
  readonly reason: Phrase
  constructor(reason: Phrase) {
    super(reason.en)
    this.reason = reason
  }
}

const UNPARSED = phrase('it cannot be parsed', '構文を解釈できません')
const LINES = phrase('it has several lines', '複数行のコマンドです')
const WHITESPACE = phrase(
  'it contains unusual whitespace or control characters',
  '特殊な空白や制御文字が含まれています',
)
const GLOB = phrase('a pattern in it could become an option', '展開するとオプションになりうるパターンが含まれています')
const RESERVED_WORD = phrase('it is more than a simple command', '単純なコマンドではありません')
const ASSIGNS = phrase('it sets variables', '変数を設定しています')

const containing = (piece: string): Phrase => phrase(`it contains ${piece}`, `${piece} が含まれています`)

/** Mean themselves wherever they stand in a word. `^`, `!` and `]` are special elsewhere or for an interactive shell only. */
const LITERAL = /^[A-Za-z0-9_./,:@%+=\]^!-]$/
/** Before these, `~` and `#` are in the middle of a word and mean themselves. */
const WORD_CHARACTER = /^[A-Za-z0-9_.]$/
/** No option, and no expression of `find` or `tail`, begins with one of these. */
const SAFE_GLOB_START = /^[A-Za-z0-9_./]/
const COMMAND_NAME = /^[A-Za-z0-9_./+-]+$/

const RESERVED = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

class PlainReader {
  readonly #letters: readonly string[]
  readonly #isLinux: boolean
  #at = 0

  constructor(line: string, platform: NodeJS.Platform) {
    // Code points: a character beyond the basic plane is one.
    this.#letters = [...line]
    this.#isLinux = platform === 'linux'
  }

  pipe(): readonly PlainCommand[] {
    const commands = [this.#command()]
    while (this.#at < this.#letters.length) {
      // The only thing that ends a command is the end of the line or a pipe.
      this.#at++
      if (this.#peek() === '|') throw new NotPlain(containing('||'))
      if (this.#peek() === '&') throw new NotPlain(containing('|&'))
      commands.push(this.#command())
    }
    return commands
  }

  #peek(): string {
    return this.#letters[this.#at] ?? ''
  }

  #command(): PlainCommand {
    const words: PlainWord[] = []
    const start = this.#at
    for (;;) {
      while (this.#peek() === ' ' || this.#peek() === '\t') this.#at++
      if (this.#peek() === '' || this.#peek() === '|') break
      const from = this.#at
      const word = this.#word()
      if (words.length === 0) this.#checkName(word, this.#letters.slice(from, this.#at).join(''))
      words.push(word)
    }
    if (words.length === 0) throw new NotPlain(UNPARSED)
    return {
      text: this.#letters
        .slice(start, this.#at)
        .join('')
        .replaceAll(/^[ \t]+|[ \t]+$/g, ''),
      words,
    }
  }

  #checkName({ value, isGlob }: PlainWord, typed: string): void {
    if (RESERVED.has(typed)) throw new NotPlain(RESERVED_WORD)
    if (typed.includes('=')) throw new NotPlain(ASSIGNS)
    if (isGlob || typed !== value || !COMMAND_NAME.test(value)) throw new NotPlain(UNPARSED)
  }

  #word(): PlainWord {
    let value = ''
    let isGlob = false
    for (;;) {
      const letter = this.#peek()
      if (letter === '' || letter === ' ' || letter === '\t' || letter === '|') return { value, isGlob }
      if (letter === "'") value += this.#singleQuoted()
      else if (letter === '"') value += this.#doubleQuoted()
      else if (letter === '\\') value += this.#escaped()
      else if (letter === '*' || letter === '?' || letter === '[') {
        if (!SAFE_GLOB_START.test(value)) throw new NotPlain(GLOB)
        isGlob = true
        value += this.#next()
      } else value += this.#unquoted(letter)
    }
  }

  #next(): string {
    return this.#letters[this.#at++] ?? ''
  }

  #unquoted(letter: string): string {
    if (LITERAL.test(letter)) return this.#next()
    if (letter === '\n' || letter === '\r') throw new NotPlain(LINES)
    if (letter === '~' || letter === '#') {
      if (!WORD_CHARACTER.test(this.#letters[this.#at - 1] ?? '')) throw new NotPlain(containing(letter))
      return this.#next()
    }
    if (letter.charCodeAt(0) < 0x80)
      throw new NotPlain(letter < ' ' || letter === '\x7f' ? WHITESPACE : operator(this.#rest()))
    this.#checkForeign(letter)
    return this.#next()
  }

  /** What is not ASCII means itself, unless a locale takes it, or a piece of it, for something else. */
  #checkForeign(letter: string): void {
    if (/[\p{Z}\p{C}]/u.test(letter)) throw new NotPlain(WHITESPACE)
    // The C library of some systems takes these bytes for blanks, even inside of a UTF-8 sequence.
    if (!this.#isLinux && Buffer.from(letter).some((byte) => byte === 0x85 || byte === 0xa0))
      throw new NotPlain(WHITESPACE)
    this.#checkAfterForeign('\\|')
  }

  /** In Shift_JIS, Big5 and GBK the second byte of a character may be a backslash or a bar. */
  #checkAfterForeign(swallowed: string): void {
    if (swallowed.includes(this.#letters[this.#at + 1] ?? ' ')) throw new NotPlain(UNPARSED)
  }

  #escaped(): string {
    this.#at++
    const letter = this.#quotedLetter()
    if (letter.charCodeAt(0) >= 0x80) throw new NotPlain(UNPARSED)
    return letter
  }

  #singleQuoted(): string {
    this.#at++
    let value = ''
    while (this.#peek() !== "'") value += this.#quotedLetter()
    this.#at++
    return value
  }

  #doubleQuoted(): string {
    this.#at++
    let value = ''
    while (this.#peek() !== '"') {
      const letter = this.#peek()
      if (letter === '$' || letter === '`') throw new NotPlain(operator(this.#rest()))
      if (letter === '\\' && /^[\\"$`]$/.test(this.#letters[this.#at + 1] ?? '')) this.#at++
      else if (letter.charCodeAt(0) >= 0x80) this.#checkAfterForeign('\\')
      value += this.#quotedLetter()
    }
    this.#at++
    return value
  }

  /** Any character but those that end a line or have no meaning in a text. */
  #quotedLetter(): string {
    const letter = this.#next()
    if (letter === '') throw new NotPlain(UNPARSED)
    if (letter === '\n' || letter === '\r') throw new NotPlain(LINES)
    if (letter !== '\t' && /[\p{Cc}\p{Cs}]/u.test(letter)) throw new NotPlain(WHITESPACE)
    return letter
  }

  #rest(): string {
    return this.#letters.slice(this.#at, this.#at + 3).join('')
  }
}

const OPERATORS = ['<<<', '<<', '<(', '>(', '>>', '$(', '&&', ';;']

function operator(rest: string): Phrase {
  return containing(OPERATORS.find((one) => rest.startsWith(one)) ?? rest.charAt(0))
}

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
export function parsePlainPipe(line: string, platform: NodeJS.Platform = process.platform): PlainPipe {
  try {
    return { ok: true, commands: new PlainPipeParser(line, platform).pipe() }
  } catch (error) {
    if (error instanceof NotPlainError) return { ok: false, reason: error.reason }
    throw error
  }
}

class NotPlainError extends Error {
  readonly reason: Phrase
  constructor(reason: Phrase) {
    super(reason.en)
    this.reason = reason
  }
}

const NOT_PARSED_PHRASE = phrase('it cannot be parsed', '構文を解釈できません')
const SEVERAL_LINES_PHRASE = phrase('it has several lines', '複数行のコマンドです')
const WHITESPACE_PHRASE = phrase(
  'it contains unusual whitespace or control characters',
  '特殊な空白や制御文字が含まれています',
)
const GLOB_PHRASE = phrase(
  'a pattern in it could become an option',
  '展開するとオプションになりうるパターンが含まれています',
)
const RESERVED_WORD_PHRASE = phrase('it is more than a simple command', '単純なコマンドではありません')
const ASSIGNS_PHRASE = phrase('it sets variables', '変数を設定しています')

const containsPhrase = (piece: string): Phrase => phrase(`it contains ${piece}`, `${piece} が含まれています`)

/** Mean themselves wherever they stand in a word. `^`, `!` and `]` are special elsewhere or for an interactive shell only. */
const LITERAL = /^[A-Za-z0-9_./,:@%+=\]^!-]$/
/** Before these, `~` and `#` are in the middle of a word and mean themselves. */
const WORD_CHARACTER = /^[A-Za-z0-9_.]$/
/** No option, and no expression of `find` or `tail`, begins with one of these. */
const SAFE_GLOB_START = /^[A-Za-z0-9_./]/
const COMMAND_NAME = /^[A-Za-z0-9_./+-]+$/

const RESERVED_WORDS = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

class PlainPipeParser {
  readonly #characters: readonly string[]
  readonly #isLinux: boolean
  #at = 0

  constructor(line: string, platform: NodeJS.Platform) {
    // Code points: a character beyond the basic plane is one.
    this.#characters = [...line]
    this.#isLinux = platform === 'linux'
  }

  pipe(): readonly PlainCommand[] {
    const commands = [this.#command()]
    while (this.#at < this.#characters.length) {
      // The only thing that ends a command is the end of the line or a pipe.
      this.#at++
      if (this.#peek() === '|') throw new NotPlainError(containsPhrase('||'))
      if (this.#peek() === '&') throw new NotPlainError(containsPhrase('|&'))
      commands.push(this.#command())
    }
    return commands
  }

  #peek(): string {
    return this.#characters[this.#at] ?? ''
  }

  #command(): PlainCommand {
    const words: PlainWord[] = []
    const start = this.#at
    for (;;) {
      while (this.#peek() === ' ' || this.#peek() === '\t') this.#at++
      if (this.#peek() === '' || this.#peek() === '|') break
      const from = this.#at
      const word = this.#word()
      if (words.length === 0) this.#checkName(word, this.#characters.slice(from, this.#at).join(''))
      words.push(word)
    }
    if (words.length === 0) throw new NotPlainError(NOT_PARSED_PHRASE)
    return {
      text: this.#characters
        .slice(start, this.#at)
        .join('')
        .replaceAll(/^[ \t]+|[ \t]+$/g, ''),
      words,
    }
  }

  #checkName({ value, isGlob }: PlainWord, typed: string): void {
    if (RESERVED_WORDS.has(typed)) throw new NotPlainError(RESERVED_WORD_PHRASE)
    if (typed.includes('=')) throw new NotPlainError(ASSIGNS_PHRASE)
    if (isGlob || typed !== value || !COMMAND_NAME.test(value)) throw new NotPlainError(NOT_PARSED_PHRASE)
  }

  #word(): PlainWord {
    let value = ''
    let isGlob = false
    for (;;) {
      const character = this.#peek()
      if (character === '' || character === ' ' || character === '\t' || character === '|') return { value, isGlob }
      if (character === "'") value += this.#singleQuoted()
      else if (character === '"') value += this.#doubleQuoted()
      else if (character === '\\') value += this.#escaped()
      else if (character === '*' || character === '?' || character === '[') {
        if (!SAFE_GLOB_START.test(value)) throw new NotPlainError(GLOB_PHRASE)
        isGlob = true
        value += this.#next()
      } else value += this.#unquoted(character)
    }
  }

  #next(): string {
    return this.#characters[this.#at++] ?? ''
  }

  #unquoted(character: string): string {
    if (LITERAL.test(character)) return this.#next()
    if (character === '\n' || character === '\r') throw new NotPlainError(SEVERAL_LINES_PHRASE)
    if (character === '~' || character === '#') {
      if (!WORD_CHARACTER.test(this.#characters[this.#at - 1] ?? '')) throw new NotPlainError(containsPhrase(character))
      return this.#next()
    }
    if (character.charCodeAt(0) < 0x80)
      throw new NotPlainError(
        character < ' ' || character === '\x7f' ? WHITESPACE_PHRASE : operatorPhrase(this.#rest()),
      )
    this.#checkForeign(character)
    return this.#next()
  }

  /** What is not ASCII means itself, unless a locale takes it, or a piece of it, for something else. */
  #checkForeign(character: string): void {
    if (/[\p{Z}\p{C}]/u.test(character)) throw new NotPlainError(WHITESPACE_PHRASE)
    // The C library of some systems takes these bytes for blanks, even inside of a UTF-8 sequence.
    if (!this.#isLinux && Buffer.from(character).some((byte) => byte === 0x85 || byte === 0xa0))
      throw new NotPlainError(WHITESPACE_PHRASE)
    this.#checkAfterForeign('\\|')
  }

  /** In Shift_JIS, Big5 and GBK the second byte of a character may be a backslash or a bar. */
  #checkAfterForeign(followers: string): void {
    if (followers.includes(this.#characters[this.#at + 1] ?? ' ')) throw new NotPlainError(NOT_PARSED_PHRASE)
  }

  #escaped(): string {
    this.#at++
    const character = this.#quotedCharacter()
    if (character.charCodeAt(0) >= 0x80) throw new NotPlainError(NOT_PARSED_PHRASE)
    return character
  }

  #singleQuoted(): string {
    this.#at++
    let value = ''
    while (this.#peek() !== "'") value += this.#quotedCharacter()
    this.#at++
    return value
  }

  #doubleQuoted(): string {
    this.#at++
    let value = ''
    while (this.#peek() !== '"') {
      const character = this.#peek()
      if (character === '$' || character === '`') throw new NotPlainError(operatorPhrase(this.#rest()))
      if (character === '\\' && /^[\\"$`]$/.test(this.#characters[this.#at + 1] ?? '')) this.#at++
      else if (character.charCodeAt(0) >= 0x80) this.#checkAfterForeign('\\')
      value += this.#quotedCharacter()
    }
    this.#at++
    return value
  }

  /** Any character but those that end a line or have no meaning in a text. */
  #quotedCharacter(): string {
    const character = this.#next()
    if (character === '') throw new NotPlainError(NOT_PARSED_PHRASE)
    if (character === '\n' || character === '\r') throw new NotPlainError(SEVERAL_LINES_PHRASE)
    if (character !== '\t' && /[\p{Cc}\p{Cs}]/u.test(character)) throw new NotPlainError(WHITESPACE_PHRASE)
    return character
  }

  #rest(): string {
    return this.#characters.slice(this.#at, this.#at + 3).join('')
  }
}

const OPERATORS = ['<<<', '<<', '<(', '>(', '>>', '$(', '&&', ';;']

function operatorPhrase(rest: string): Phrase {
  return containsPhrase(OPERATORS.find((one) => rest.startsWith(one)) ?? rest.charAt(0))
}

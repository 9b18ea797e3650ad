/**
 * Parses command lines whose words are exactly what bash executes: a pipe of simple commands with plain words.
 *
 * It is an allow-list of characters, not a shell. It rejects, with a reason, expansions, substitutions, redirections,
 * braces, comments, assignments, reserved words, command lists and unusual white space. Permission checks rely on this:
 * bash starts these programs with these arguments and nothing else. `test/chat/tools/shell-fuzz.test.ts` compares it
 * with bash.
 */
import { type Phrase, phrase } from '../../model/phrase.ts'

export interface PlainWord {
  /** Without quotes and backslashes: the argument that the program receives. */
  readonly value: string
  /**
   * Contains an unquoted `*`, `?` or `[`. Bash replaces it by the matching file names, if any. They begin with the same
   * letter, digit, `_`, `.` or `/`, so none of them is an option.
   */
  readonly isGlob: boolean
}

export interface PlainCommand {
  /** As typed, without surrounding blanks. */
  readonly text: string
  /** The command name first; never empty. */
  readonly words: readonly PlainWord[]
}

export type PlainPipe =
  | { readonly ok: true; readonly commands: readonly PlainCommand[] }
  | { readonly ok: false; readonly reason: Phrase }

/** @param platform determines which bytes the shell's locale may treat as blanks */
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

/** Literal anywhere in a word. `^`, `!` and `]` are special only elsewhere, or in interactive shells. */
const LITERAL = /^[A-Za-z0-9_./,:@%+=\]^!-]$/
/** After one of these, `~` and `#` are inside a word and literal. */
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
    // Splits by code points, so that surrogate pairs stay together.
    this.#characters = [...line]
    this.#isLinux = platform === 'linux'
  }

  pipe(): readonly PlainCommand[] {
    const commands = [this.#command()]
    while (this.#at < this.#characters.length) {
      // Commands end only at a pipe or the end of the line.
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

  /** Characters outside ASCII are literal, unless a locale gives them, or one of their bytes, another meaning. */
  #checkForeign(character: string): void {
    if (/[\p{Z}\p{C}]/u.test(character)) throw new NotPlainError(WHITESPACE_PHRASE)
    // On some systems, the C library treats these bytes as blanks, even inside a UTF-8 sequence.
    if (!this.#isLinux && Buffer.from(character).some((byte) => byte === 0x85 || byte === 0xa0))
      throw new NotPlainError(WHITESPACE_PHRASE)
    this.#checkAfterForeign('\\|')
  }

  /** In Shift_JIS, Big5 and GBK, the second byte of a character may be a backslash or a bar. */
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

  /** Rejects characters that end a line or are invalid in text. */
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

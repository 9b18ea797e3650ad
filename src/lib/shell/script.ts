/**
 * Finds every simple command in a script of bash, wherever it is: lists, pipes, groups, loops, substitutions.
 *
 * For rules that forbid: it finds rather too much than too little. Where bash might run something that is not among the
 * commands found, `isCertain` is false: here-documents, `case`, arithmetic, functions, arrays, unusual expansions, syntax errors.
 * `test/chat/tools/shell-fuzz.test.ts` compares what it finds with what bash runs.
 */

export interface ScriptWord {
  /** Without quotes and backslashes; from `known` on as it was typed. */
  readonly value: string
  /** How many characters of the value are sure to be what bash makes of the word. */
  readonly known: number
  /** As it was typed. */
  readonly typed: string
}

export interface Redirect {
  readonly operator: string
  readonly target: ScriptWord
}

export interface ScriptCommand {
  /** Without assignments, redirections and leading reserved words. Empty where there is nothing else. */
  readonly words: readonly ScriptWord[]
  readonly assignments: readonly ScriptWord[]
  readonly redirects: readonly Redirect[]
  /** As it was typed, with everything. */
  readonly text: string
  /** Reads what the command before it in the list prints. */
  readonly isPiped: boolean
}

export interface Script {
  readonly commands: readonly ScriptCommand[]
  /** Bash runs no simple command that is not listed. */
  readonly isCertain: boolean
}

export const isFullyKnown = ({ value, known }: ScriptWord): boolean => known >= value.length

/** Nesting beyond this is not followed. */
const MAX_DEPTH = 30

/** Never throws. */
export function parseScript(text: string): Script {
  const parser = new ScriptParser(text, 0)
  parser.parseAll()
  if (parser.isCertain || !text.includes('\n')) return { commands: parser.commands, isCertain: parser.isCertain }
  // What was taken for a quoted text or a here-document may have been commands: each line is looked at by itself, too.
  const lines = text.split('\n').flatMap((line) => {
    const lineParser = new ScriptParser(line, 1)
    lineParser.parseAll()
    return lineParser.commands
  })
  return { commands: [...parser.commands, ...lines], isCertain: false }
}

/** Words that stand before a command without being one. */
const LEADING_WORDS = new Set('! { } if then elif else fi do done while until'.split(' '))
/** What they make of the words behind them is not modelled. */
const UNMODELLED_WORDS = new Set('case esac select function coproc [[ ]] in'.split(' '))

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const SUBSCRIPT = /^[A-Za-z_][A-Za-z0-9_]*\[/
/** They change what bash or the next program reads and runs. Bash evaluates what it assigns to the integers among them. */
const POWERFUL_NAMES =
  'BASH_ENV|ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|IFS|PATH|LD_\\w+|DYLD_\\w+|S?RANDOM|SECONDS|OPTIND|HISTCMD'
export const POWERFUL_ASSIGNMENT = new RegExp(`^(?:${POWERFUL_NAMES})\\+?=`)
/** The same as a word of a command that sets variables: `PS4`, `-vPS4`, `PS4=x`. */
export const NAMES_POWERFUL = new RegExp(`^(?:-\\w*?)?(?:${POWERFUL_NAMES})(?:\\+?=|\\[|$)`)

/** Sticky: it is tried at one place of the text. */
const REDIRECT = /(?:\d+|\{[A-Za-z_]\w*\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)/y

/** A word that is being read. */
interface WordBuilder {
  value: string
  known: number | undefined
}

const isWordEnd = (character: string, next: string): boolean =>
  character === '' || ' \t\n;|&()'.includes(character) || ((character === '<' || character === '>') && next !== '(')

class ScriptParser {
  readonly commands: ScriptCommand[] = []
  isCertain = true
  readonly #text: string
  readonly #depth: number
  #at = 0
  #open = 0

  constructor(text: string, depth: number) {
    this.#text = text
    this.#depth = depth
    if (depth > MAX_DEPTH) this.#doubt()
    // Some locales take other characters for blanks; no argument can hold a NUL or half a character.
    if (/[^\S \t\n]|[\0\x85]|\p{Cs}/u.test(text)) this.#doubt()
    // A continued line between `$` and what it expands.
    if (text.includes('$\\\n')) this.#doubt()
  }

  parseAll(): void {
    while (this.#at < this.#text.length) {
      this.#list('')
      // A bracket too many: bash refuses the line, and what is behind it might be read all the same.
      if (this.#at < this.#text.length) {
        this.#doubt()
        this.#at++
      }
    }
  }

  #doubt(): void {
    this.isCertain = false
  }

  #peek(ahead = 0): string {
    return this.#text.charAt(this.#at + ahead)
  }

  #startsWith(piece: string): boolean {
    return this.#text.startsWith(piece, this.#at)
  }

  /** Reads commands up to `end`, which stays unread, or to the end of the text. */
  #list(end: '' | ')'): void {
    let isPiped = false
    for (;;) {
      this.#blanks()
      const character = this.#peek()
      if (character === '') break
      if (character === ')') break
      if (character === '#') this.#comment(end)
      else if (character === '(') {
        if (this.#peek(1) === '(') this.#doubt()
        this.#nested()
        isPiped = false
      } else if (character === '\n' || character === ';') {
        if (this.#startsWith(';;') || this.#startsWith(';&')) this.#doubt()
        this.#at++
        isPiped = false
      } else if (character === '|') {
        isPiped = this.#peek(1) !== '|'
        this.#at += this.#peek(1) === '|' || this.#peek(1) === '&' ? 2 : 1
      } else if (character === '&' && this.#peek(1) !== '>') {
        this.#at += this.#peek(1) === '&' ? 2 : 1
        isPiped = false
      } else {
        this.#simple(isPiped)
        isPiped = false
      }
    }
    if (end !== '' && this.#peek() !== end) this.#doubt()
  }

  /** Blanks and continued lines. */
  #blanks(): void {
    for (;;) {
      if (this.#peek() === ' ' || this.#peek() === '\t') this.#at++
      else if (this.#startsWith('\\\n')) this.#at += 2
      else return
    }
  }

  #comment(end: '' | ')'): void {
    // Versions of bash differ on whether a bracket in a comment closes a substitution.
    if (end !== '') this.#doubt()
    const line = this.#text.indexOf('\n', this.#at)
    this.#at = line < 0 ? this.#text.length : line
  }

  /** What is between brackets, read as a list of its own. */
  #nested(): void {
    this.#at++
    if (this.#depth + this.#open > MAX_DEPTH) {
      this.#doubt()
      return
    }
    this.#open++
    this.#list(')')
    this.#open--
    this.#at++
  }

  #simple(isPiped: boolean): void {
    const start = this.#at
    const words: ScriptWord[] = []
    const assignments: ScriptWord[] = []
    const redirects: Redirect[] = []
    for (;;) {
      this.#blanks()
      const character = this.#peek()
      if (character === '' || '\n;|)'.includes(character) || (character === '&' && this.#peek(1) !== '>')) break
      if (character === '(') {
        // A function, an array, or an extended pattern.
        this.#doubt()
        break
      }
      if (character === '#' && this.#isWordStart()) break
      const operator = this.#operator()
      if (operator !== undefined && !this.#isProcess(operator)) {
        redirects.push(this.#redirect(operator))
        continue
      }
      const at = this.#at
      const word = this.#word()
      if (words.length === 2 && words[0]?.typed === 'for' && /^(?:do|\{)$/.test(word.typed)) {
        // `for i do …`: the body begins without a separator.
        this.#at = at
        break
      }
      if (words.length > 0) words.push(word)
      else if (LEADING_WORDS.has(word.typed)) continue
      else if (ASSIGNMENT.test(word.typed) || SUBSCRIPT.test(word.typed)) {
        assignments.push(word)
        this.#checkAssignment(word)
      } else {
        if (UNMODELLED_WORDS.has(word.typed)) this.#doubt()
        words.push(word)
      }
    }
    const text = this.#text.slice(start, this.#at).trim()
    if (text !== '') this.commands.push({ words, assignments, redirects, text, isPiped })
  }

  /** A `#` begins a comment only where a word begins. */
  #isWordStart(): boolean {
    return this.#at === 0 || /[\s;&|()<>]/.test(this.#text.charAt(this.#at - 1))
  }

  /** The redirection that begins here. */
  #operator(): string | undefined {
    REDIRECT.lastIndex = this.#at
    return REDIRECT.exec(this.#text)?.[0]
  }

  #isProcess(operator: string): boolean {
    return (operator === '<' || operator === '>') && this.#peek(1) === '('
  }

  #checkAssignment({ value, typed }: ScriptWord): void {
    if (SUBSCRIPT.test(typed) || POWERFUL_ASSIGNMENT.test(value) || /`|\$\(/.test(value)) this.#doubt()
  }

  #redirect(operator: string): Redirect {
    this.#at += operator.length
    if (/(?:^|[^<])<<-?$/.test(operator)) this.#doubt()
    // `{name}>` sets a variable.
    if (NAMES_POWERFUL.test(/\w+/.exec(operator)?.[0] ?? '')) this.#doubt()
    this.#blanks()
    if (operator.endsWith('&') && this.#peek() === '-') {
      // Closes it: what follows is a word of its own, even without a blank between.
      this.#at++
      return { operator, target: { value: '-', known: 1, typed: '-' } }
    }
    return { operator, target: this.#word() }
  }

  /** One word; what bash replaces in it is noted from where it begins. */
  #word(): ScriptWord {
    const start = this.#at
    const builder: WordBuilder = { value: '', known: undefined }
    while (!isWordEnd(this.#peek(), this.#peek(1))) this.#piece(builder)
    // An operator where a word should be: nothing that bash accepts.
    if (this.#at === start) {
      this.#doubt()
      if (this.#peek() !== '' && !'\n;|&)'.includes(this.#peek())) this.#at++
    }
    const typed = this.#text.slice(start, this.#at).replaceAll('\\\n', '')
    return { value: builder.value, known: builder.known ?? builder.value.length, typed }
  }

  #piece(builder: WordBuilder): void {
    const character = this.#peek()
    if (character === '<' || character === '>') {
      builder.known ??= builder.value.length
      builder.value += this.#substitution()
    } else if (character === "'") builder.value += this.#singleQuoted()
    else if (character === '"') this.#doubleQuoted(builder)
    else if (character === '\\') {
      if (this.#peek(1) === '') this.#doubt()
      if (this.#peek(1) !== '\n') builder.value += this.#peek(1)
      this.#at += 2
    } else if (character === '$' || character === '`') {
      builder.known ??= builder.value.length
      builder.value += this.#expansion()
    } else if (this.#startsWith('{}') && isWordEnd(this.#peek(2), this.#peek(3))) {
      builder.value += '{}'
      this.#at += 2
    } else if (builder.value === '' && character === '[' && isWordEnd(this.#peek(1), this.#peek(2))) {
      // The command of this name.
      builder.value += character
      this.#at++
    } else {
      const isTilde = character === '~' && (builder.value === '' || /[=:]$/.test(builder.value))
      const isBrace = character === '{' && (builder.value !== '' || !isWordEnd(this.#peek(1), this.#peek(2)))
      if (isTilde || isBrace || '*?['.includes(character)) builder.known ??= builder.value.length
      builder.value += character
      this.#at++
    }
  }

  #singleQuoted(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end < 0) this.#doubt()
    const value = this.#text.slice(this.#at + 1, end < 0 ? undefined : end)
    this.#at = end < 0 ? this.#text.length : end + 1
    return value
  }

  #doubleQuoted(builder: WordBuilder): void {
    this.#at++
    while (this.#peek() !== '"') {
      const character = this.#peek()
      const next = this.#peek(1)
      if (character === '') {
        this.#doubt()
        return
      }
      if (character === '\\') {
        if (next !== '\n') builder.value += /^[\\"$`]$/.test(next) ? next : `\\${next}`
        this.#at += 2
      } else if (character === '`' || (character === '$' && /^[A-Za-z0-9_({[@*#?$!-]$/.test(next))) {
        builder.known ??= builder.value.length
        builder.value += this.#expansion()
      } else {
        builder.value += character
        this.#at++
      }
    }
    this.#at++
  }

  /** At `$` or a backquote. Gives what was typed. */
  #expansion(): string {
    const start = this.#at
    const next = this.#peek(1)
    if (this.#peek() === '`') this.#backquoted()
    else if (next === '(') this.#substitution()
    else if (next === '{') this.#parameter()
    else if (next === '[') this.#doubt()
    else if (next === "'") this.#ansiQuoted()
    if (this.#at === start) this.#at++
    return this.#text.slice(start, this.#at)
  }

  /** `$(…)`, `<(…)`, `>(…)`. */
  #substitution(): string {
    const start = this.#at
    this.#at++
    if (this.#peek(1) === '(') this.#doubt()
    this.#nested()
    return this.#text.slice(start, this.#at)
  }

  #backquoted(): void {
    let body = ''
    this.#at++
    while (this.#peek() !== '`' && this.#peek() !== '') {
      if (this.#peek() === '\\') {
        // Which backslashes go depends on the quotes around.
        this.#doubt()
        this.#at++
      }
      body += this.#peek()
      this.#at++
    }
    if (this.#peek() === '') this.#doubt()
    this.#at++
    const inner = new ScriptParser(body, this.#depth + this.#open + 1)
    if (this.#depth + this.#open <= MAX_DEPTH) inner.parseAll()
    this.commands.push(...inner.commands)
    if (!inner.isCertain) this.#doubt()
  }

  #parameter(): void {
    const simple = /^\$\{(?:[A-Za-z_]\w*|\d+|[@*#?$!-])\}/.exec(this.#text.slice(this.#at, this.#at + 200))?.[0]
    // Others may hold substitutions, or be evaluated again: the text behind is read as usual words, which finds them.
    if (simple === undefined) this.#doubt()
    this.#at += simple?.length ?? 2
  }

  #ansiQuoted(): void {
    this.#at += 2
    while (this.#peek() !== "'" && this.#peek() !== '') this.#at += this.#peek() === '\\' ? 2 : 1
    if (this.#peek() === '') this.#doubt()
    this.#at++
  }
}

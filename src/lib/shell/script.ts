/**
 * Finds every simple command in a bash script, wherever it occurs: lists, pipes, groups, loops, substitutions.
 *
 * Made for rules that deny commands, so it reports too many rather than too few. `isCertain` is false if bash may run a
 * command that was not found: here-documents, `case`, arithmetic, functions, arrays, unusual expansions, syntax errors.
 * `test/chat/tools/shell-fuzz.test.ts` compares the result with what bash runs.
 */

export interface ScriptWord {
  /** Without quotes and backslashes. After the first `known` characters, as typed. */
  readonly value: string
  /** Length of the prefix of `value` that bash certainly produces. */
  readonly known: number
  /** As typed. */
  readonly typed: string
}

export interface Redirect {
  readonly operator: string
  readonly target: ScriptWord
}

export interface ScriptCommand {
  /** Without assignments, redirections and leading reserved words. May be empty. */
  readonly words: readonly ScriptWord[]
  readonly assignments: readonly ScriptWord[]
  readonly redirects: readonly Redirect[]
  /** The complete command as typed. */
  readonly text: string
  /** Its input is the output of the previous command. */
  readonly isPiped: boolean
}

export interface Script {
  readonly commands: readonly ScriptCommand[]
  /** Every simple command that bash runs is listed. */
  readonly isCertain: boolean
}

export const isFullyKnown = ({ value, known }: ScriptWord): boolean => known >= value.length

/** Deeper nesting is not parsed; the result is then uncertain. */
const MAX_DEPTH = 30

/** Never throws. */
export function parseScript(text: string): Script {
  const parser = new ScriptParser(text, 0)
  parser.parseAll()
  if (parser.isCertain || !text.includes('\n')) return { commands: parser.commands, isCertain: parser.isCertain }
  // Text that looks quoted or like a here-document may be commands, so each line is also parsed on its own.
  const lines = text.split('\n').flatMap((line) => {
    const lineParser = new ScriptParser(line, 1)
    lineParser.parseAll()
    return lineParser.commands
  })
  return { commands: [...parser.commands, ...lines], isCertain: false }
}

/** Reserved words that may precede a command. */
const LEADING_WORDS = new Set('! { } if then elif else fi do done while until'.split(' '))
/** Words after these are not modelled. */
const UNMODELLED_WORDS = new Set('case esac select function coproc [[ ]] in'.split(' '))

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const SUBSCRIPT = /^[A-Za-z_][A-Za-z0-9_]*\[/
/**
 * Variables that change what bash or the next program reads and runs. Bash evaluates values assigned to the integers
 * among them.
 */
const POWERFUL_NAMES =
  'BASH_ENV|ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|IFS|PATH|LD_\\w+|DYLD_\\w+|S?RANDOM|SECONDS|OPTIND|HISTCMD'
export const POWERFUL_ASSIGNMENT = new RegExp(`^(?:${POWERFUL_NAMES})\\+?=`)
/** The same names in arguments of commands that set variables: `PS4`, `-vPS4`, `PS4=x`. */
export const NAMES_POWERFUL = new RegExp(`^(?:-\\w*?)?(?:${POWERFUL_NAMES})(?:\\+?=|\\[|$)`)

/** Sticky, to match at one position. */
const REDIRECT = /(?:\d+|\{[A-Za-z_]\w*\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)/y

/** The word being read. */
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
    // Some locales treat other characters as blanks. NUL and unpaired surrogates cannot occur in arguments.
    if (/[^\S \t\n]|[\0\x85]|\p{Cs}/u.test(text)) this.#doubt()
    // A line continuation between `$` and its name.
    if (text.includes('$\\\n')) this.#doubt()
  }

  parseAll(): void {
    while (this.#at < this.#text.length) {
      this.#list('')
      // An unmatched bracket. Bash rejects the line, but may still run what follows.
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

  /** Parses commands up to `end`, which is not consumed, or to the end of the text. */
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

  /** Skips blanks and line continuations. */
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

  /** Parses the contents of brackets as a list. */
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
        // A function, an array or an extended glob.
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
        // `for i do …`: no separator before the body.
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

  /** `#` begins a comment only at the start of a word. */
  #isWordStart(): boolean {
    return this.#at === 0 || /[\s;&|()<>]/.test(this.#text.charAt(this.#at - 1))
  }

  /** The redirection at the current position. */
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
    // `{name}>` assigns a variable.
    if (NAMES_POWERFUL.test(/\w+/.exec(operator)?.[0] ?? '')) this.#doubt()
    this.#blanks()
    if (operator.endsWith('&') && this.#peek() === '-') {
      // `-` closes the descriptor. What follows is a separate word, even without a blank.
      this.#at++
      return { operator, target: { value: '-', known: 1, typed: '-' } }
    }
    return { operator, target: this.#word() }
  }

  /** Reads one word and notes where expansions begin. */
  #word(): ScriptWord {
    const start = this.#at
    const builder: WordBuilder = { value: '', known: undefined }
    while (!isWordEnd(this.#peek(), this.#peek(1))) this.#piece(builder)
    // An operator where a word is expected is a syntax error.
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
      // The command `[`.
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

  /** At `$` or a backquote. Returns what was typed. */
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
        // Which backslashes are removed depends on the surrounding quotes.
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
    // Other expansions may contain substitutions or be evaluated again. The rest is parsed as ordinary words, which
    // finds the commands in them.
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

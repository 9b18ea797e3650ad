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

export const isKnown = ({ value, known }: ScriptWord): boolean => known >= value.length

/** Nesting beyond this is not followed. */
const MOST_DEPTH = 30

/** Never throws. */
export function parseScript(text: string): Script {
  const parser = new ScriptParser(text, 0)
  parser.all()
  if (parser.isCertain || !text.includes('\n')) return { commands: parser.commands, isCertain: parser.isCertain }
  // What was taken for a quoted text or a here-document may have been commands: each line is looked at by itself, too.
  const lines = text.split('\n').flatMap((line) => {
    const alone = new ScriptParser(line, 1)
    alone.all()
    return alone.commands
  })
  return { commands: [...parser.commands, ...lines], isCertain: false }
}

/** Words that stand before a command without being one. */
const LEADING = new Set('! { } if then elif else fi do done while until'.split(' '))
/** What they make of the words behind them is not modelled. */
const UNMODELLED = new Set('case esac select function coproc [[ ]] in'.split(' '))

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/
const SUBSCRIPT = /^[A-Za-z_][A-Za-z0-9_]*\[/
/** They change what bash or the next program reads and runs. Bash evaluates what it assigns to the integers among them. */
const POWERFUL_NAMES =
  'BASH_ENV|ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|IFS|PATH|LD_\\w+|DYLD_\\w+|S?RANDOM|SECONDS|OPTIND|HISTCMD'
export const POWERFUL = new RegExp(`^(?:${POWERFUL_NAMES})\\+?=`)
/** The same as a word of a command that sets variables: `PS4`, `-vPS4`, `PS4=x`. */
export const NAMES_POWERFUL = new RegExp(`^(?:-\\w*?)?(?:${POWERFUL_NAMES})(?:\\+?=|\\[|$)`)

/** Sticky: it is tried at one place of the text. */
const REDIRECT = /(?:\d+|\{[A-Za-z_]\w*\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)/y

/** A word that is being read. */
interface Draft {
  value: string
  known: number | undefined
}

const isEndOfWord = (letter: string, next: string): boolean =>
  letter === '' || ' \t\n;|&()'.includes(letter) || ((letter === '<' || letter === '>') && next !== '(')

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
    if (depth > MOST_DEPTH) this.#doubt()
    // Some locales take other characters for blanks; no argument can hold a NUL or half a character.
    if (/[^\S \t\n]|[\0\x85]|\p{Cs}/u.test(text)) this.#doubt()
    // A continued line between `$` and what it expands.
    if (text.includes('$\\\n')) this.#doubt()
  }

  all(): void {
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
      const letter = this.#peek()
      if (letter === '') break
      if (letter === ')') break
      if (letter === '#') this.#comment(end)
      else if (letter === '(') {
        if (this.#peek(1) === '(') this.#doubt()
        this.#nested()
        isPiped = false
      } else if (letter === '\n' || letter === ';') {
        if (this.#startsWith(';;') || this.#startsWith(';&')) this.#doubt()
        this.#at++
        isPiped = false
      } else if (letter === '|') {
        isPiped = this.#peek(1) !== '|'
        this.#at += this.#peek(1) === '|' || this.#peek(1) === '&' ? 2 : 1
      } else if (letter === '&' && this.#peek(1) !== '>') {
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
    if (this.#depth + this.#open > MOST_DEPTH) {
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
      const letter = this.#peek()
      if (letter === '' || '\n;|)'.includes(letter) || (letter === '&' && this.#peek(1) !== '>')) break
      if (letter === '(') {
        // A function, an array, or an extended pattern.
        this.#doubt()
        break
      }
      if (letter === '#' && this.#isWordStart()) break
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
      else if (LEADING.has(word.typed)) continue
      else if (ASSIGNMENT.test(word.typed) || SUBSCRIPT.test(word.typed)) {
        assignments.push(word)
        this.#checkAssignment(word)
      } else {
        if (UNMODELLED.has(word.typed)) this.#doubt()
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
    if (SUBSCRIPT.test(typed) || POWERFUL.test(value) || /`|\$\(/.test(value)) this.#doubt()
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
    const draft: Draft = { value: '', known: undefined }
    while (!isEndOfWord(this.#peek(), this.#peek(1))) this.#piece(draft)
    // An operator where a word should be: nothing that bash accepts.
    if (this.#at === start) {
      this.#doubt()
      if (this.#peek() !== '' && !'\n;|&)'.includes(this.#peek())) this.#at++
    }
    const typed = this.#text.slice(start, this.#at).replaceAll('\\\n', '')
    return { value: draft.value, known: draft.known ?? draft.value.length, typed }
  }

  #piece(draft: Draft): void {
    const letter = this.#peek()
    if (letter === '<' || letter === '>') {
      draft.known ??= draft.value.length
      draft.value += this.#substitution()
    } else if (letter === "'") draft.value += this.#singleQuoted()
    else if (letter === '"') this.#doubleQuoted(draft)
    else if (letter === '\\') {
      if (this.#peek(1) === '') this.#doubt()
      if (this.#peek(1) !== '\n') draft.value += this.#peek(1)
      this.#at += 2
    } else if (letter === '$' || letter === '`') {
      draft.known ??= draft.value.length
      draft.value += this.#expansion()
    } else if (this.#startsWith('{}') && isEndOfWord(this.#peek(2), this.#peek(3))) {
      draft.value += '{}'
      this.#at += 2
    } else if (draft.value === '' && letter === '[' && isEndOfWord(this.#peek(1), this.#peek(2))) {
      // The command of this name.
      draft.value += letter
      this.#at++
    } else {
      const isTilde = letter === '~' && (draft.value === '' || /[=:]$/.test(draft.value))
      const isBrace = letter === '{' && (draft.value !== '' || !isEndOfWord(this.#peek(1), this.#peek(2)))
      if (isTilde || isBrace || '*?['.includes(letter)) draft.known ??= draft.value.length
      draft.value += letter
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

  #doubleQuoted(draft: Draft): void {
    this.#at++
    while (this.#peek() !== '"') {
      const letter = this.#peek()
      const next = this.#peek(1)
      if (letter === '') {
        this.#doubt()
        return
      }
      if (letter === '\\') {
        if (next !== '\n') draft.value += /^[\\"$`]$/.test(next) ? next : `\\${next}`
        this.#at += 2
      } else if (letter === '`' || (letter === '$' && /^[A-Za-z0-9_({[@*#?$!-]$/.test(next))) {
        draft.known ??= draft.value.length
        draft.value += this.#expansion()
      } else {
        draft.value += letter
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
    if (this.#depth + this.#open <= MOST_DEPTH) inner.all()
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

/** Finds the programs that a command line starts, directly or through other programs, and those that only read. */
import { type PlainCommand, parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import {
  isFullyKnown,
  NAMES_POWERFUL,
  POWERFUL_ASSIGNMENT,
  parseScript,
  type Redirect,
  type Script,
  type ScriptCommand,
  type ScriptWord,
} from '../../../lib/shell/script.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'

const FIND_WRITES = phrase('find runs, deletes or writes something', 'find が何かを実行・削除・書き込みします')
const GREP_PERL = phrase('grep runs a Perl expression', 'grep が Perl の式を実行します')
const TAIL_WAITS = phrase('tail keeps waiting for new lines', 'tail が追記を待ち続けます')

type ArgumentCheck = (values: readonly string[]) => Phrase | undefined

/** The program neither writes nor runs anything, whatever its options. */
const ANY: ArgumentCheck = () => undefined

/**
 * Arguments that disqualify a reader. Options are checked at every position, even where they may be an argument of
 * another option.
 */
const READERS: ReadonlyMap<string, ArgumentCheck> = new Map([
  ['ls', ANY],
  ['dir', ANY],
  ['cat', ANY],
  ['echo', ANY],
  ['pwd', ANY],
  ['which', ANY],
  ['type', ANY],
  ['head', ANY],
  ['tail', (values) => (values.every(isQuietTail) ? undefined : TAIL_WAITS)],
  ['find', (values) => (values.every(isReadingFind) ? undefined : FIND_WRITES)],
  ['grep', (values) => (values.some(isPerl) ? GREP_PERL : undefined)],
])

export const isReadOnlyProgram = (name: string): boolean => READERS.has(name)

/** Why a known reader may do more than read; undefined for other programs. */
export function findArgumentDanger({ words: [name, ...rest] }: PlainCommand): Phrase | undefined {
  return READERS.get(name?.value ?? '')?.(rest.map(({ value }) => value))
}

/** Whether a program with these arguments is a known reader and does nothing else. */
const readsOnly = (name: string, values: readonly string[]): boolean =>
  isReadOnlyProgram(name) && READERS.get(name)?.(values) === undefined

/** Decides by words only: neither the file that bash runs nor the files that it reads are checked. */
export const isReadingCommand = ({ words: [name, ...rest] }: PlainCommand): boolean =>
  readsOnly(
    name?.value ?? '',
    rest.map(({ value }) => value),
  )

/** The commands of a pipe that only reads; undefined for any other line. */
export function parseReadingPipe(line: string): readonly PlainCommand[] | undefined {
  const pipe = parsePlainPipe(line)
  return pipe.ok && pipe.commands.every(isReadingCommand) ? pipe.commands : undefined
}

/** Excludes `-f`, `-F`, `--follow`, `--retry` and `--pid` in any spelling, and `+5f`. */
const isQuietTail = (value: string): boolean =>
  !/^[-+]./.test(value) ||
  /^-[qvzr]*(?:[ncb](?:[-+]?\d+[a-zA-Z]{0,3})?)?$/.test(value) ||
  /^[-+]\d+[a-zA-Z]?$/.test(value.replace(/f$/i, '!')) ||
  /^--(?:lines|bytes|quiet|silent|verbose|zero-terminated|help|version)(?:=.*)?$/.test(value)

const isPerl = (value: string): boolean => /^-[^-]*P/.test(value) || /^--p/.test(value)

/** Options of `find`: tests, harmless actions, operators, and numbers that look like options. */
const FIND_OPTIONS = new Set(
  [
    '-H -L -P -E -s -x -d -depth -maxdepth -mindepth -mount -xdev -noleaf -follow -daystart -regextype -warn -nowarn',
    '-ignore_readdir_race -noignore_readdir_race -help --help -version --version',
    '-amin -anewer -atime -cmin -cnewer -ctime -empty -executable -false -fstype -gid -group -ilname -iname -inum -ipath',
    '-iregex -iwholename -links -lname -mmin -mtime -name -newer -nogroup -nouser -path -perm -readable -regex -samefile',
    '-size -true -type -uid -used -user -wholename -writable -xtype',
    '-print -print0 -printf -ls -prune -quit -a -and -o -or -not',
  ].flatMap((line) => line.split(' ')),
)

const isReadingFind = (value: string): boolean =>
  !value.startsWith('-') || FIND_OPTIONS.has(value) || /^-(?:O\d|newer[aBcm][aBcmt]|\d+[a-zA-Z]?)?$/.test(value)

export interface StartedProgram {
  /** The name first. Empty if the command only sets variables or redirects. */
  readonly words: readonly ScriptWord[]
  readonly assignments: readonly ScriptWord[]
  readonly redirects: readonly Redirect[]
  /** Its input is the output of the previous command. */
  readonly isPiped: boolean
}

export interface StartedPrograms {
  readonly started: readonly StartedProgram[]
  /** As typed, one text per simple command. */
  readonly texts: readonly string[]
  /** The shell starts nothing else. Does not cover what a program such as `make` starts. */
  readonly isCertain: boolean
}

/** Never throws. Finds too much rather than too little. */
export function findStartedPrograms(command: string): StartedPrograms {
  const finder = new ProgramFinder()
  finder.script(parseScript(command), 0)
  return { started: finder.started, texts: finder.texts, isCertain: finder.isCertain }
}

export const programBaseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '))

export const SHELLS = wordSet('bash sh dash ash zsh ksh mksh yash rbash fish csh tcsh pwsh')
/** Programs that run what follows their options: each of their words may be a program. */
const WRAPPERS = wordSet(
  'env command exec builtin coproc function time nohup nice ionice chrt taskset timeout stdbuf setsid setpriv sudo doas su runuser pkexec xargs parallel watch script unshare nsenter chroot firejail bwrap proot fakeroot strace ltrace busybox toybox flock ssh entr systemd-run setarch linux32 linux64 unbuffer rlwrap torsocks proxychains caffeinate arch npx jobs sg prlimit choom numactl start-stop-daemon gosu su-exec',
)
/** The dynamic loader, which runs its argument: `ld-linux-x86-64.so.2`. */
const LOADER = /^ld[\w.-]*\.so[\d.]*$/
/** Builtins after which bash may run code that is not in any command. */
const UNCERTAIN_BUILTINS = wordSet('. source alias shopt enable hash compgen complete bind fc let mapfile readarray')
/** Builtins that evaluate subscripts in their arguments, including substitutions. */
const SUBSCRIPT_BUILTINS = wordSet('declare typeset local readonly export unset read getopts wait printf test [')
/** Builtins that set variables, and keywords that assign loop variables. */
const SETTERS = wordSet('declare typeset local readonly export unset read getopts wait printf for select set')
export const INTERPRETER = /^(?:python[\d.]*|perl[\d.]*|ruby|node|deno|bun|php|lua[\d.]*|tclsh|wish|Rscript|osascript)$/
const EDITORS = wordSet('vi vim nvim view ex ed emacs gdb lldb')
const FIND_RUNS = wordSet('-exec -execdir -ok -okdir')
/** Options of xargs without a value, or with it after `=`; excludes those that name a placeholder. */
const XARGS_OPTION =
  /^-[0rtpxo]+$|^--(?:null|no-run-if-empty|verbose|interactive|exit|open-tty)$|^--(?:max-[a-z]+|delimiter|arg-file|eof)=/

/** Limit of nested scripts. */
const MAX_NESTING = 5
/** Limit of a wrapper's words that are checked as program names. */
const MAX_WRAPPER_WORDS = 50
/** A command that starts more programs is not analysed completely. */
const MAX_STARTED_PROGRAMS = 500

/** A value that a program inserts into a command from elsewhere. */
const UNKNOWN: ScriptWord = { value: '$@', known: 0, typed: '$@' }

class ProgramFinder {
  readonly started: StartedProgram[] = []
  readonly texts: string[] = []
  isCertain = true

  script({ commands, isCertain }: Script, depth: number): void {
    if (!isCertain) this.#markUncertain()
    for (const command of commands) {
      this.texts.push(command.text)
      this.#command(command, depth)
    }
  }

  #markUncertain(): void {
    this.isCertain = false
  }

  #command(command: ScriptCommand, depth: number): void {
    const { words, assignments, redirects, isPiped } = command
    // The variable may name a program to run: `GIT_EXTERNAL_DIFF=$x git diff`.
    if (words.length > 0 && !assignments.every(isFullyKnown)) this.#markUncertain()
    this.#add({ words, assignments, redirects, isPiped }, depth)
    const name = programNameOf(words)
    if (!WRAPPERS.has(name) && !LOADER.test(name)) return
    if (words.length > MAX_WRAPPER_WORDS) this.#markUncertain()
    for (let at = 1; at < Math.min(words.length, MAX_WRAPPER_WORDS); at++) {
      const inner = { words: words.slice(at), assignments: [], redirects, isPiped }
      const first = words[at]
      if (first === undefined) continue
      if (POWERFUL_ASSIGNMENT.test(first.value) || /^-[a-zA-Z]*S|^--s/.test(first.value)) this.#markUncertain()
      const isOption = first.value.startsWith('-')
      if (isOption && !isFullyKnown(first)) this.#markUncertain()
      if (!isOption) this.#add(inner, depth)
      const scripts = scriptsIn(first.value)
      if (scripts.length > MAX_WRAPPER_WORDS) this.#markUncertain()
      for (const value of scripts.slice(0, MAX_WRAPPER_WORDS))
        this.#text({ ...first, value, known: isFullyKnown(first) ? value.length : 0 }, depth)
    }
  }

  #add(one: StartedProgram, depth: number): void {
    if (this.started.length >= MAX_STARTED_PROGRAMS) {
      this.#markUncertain()
      return
    }
    this.started.push(one)
    this.#addStartedBy(one, depth)
  }

  /** Adds what a program runs because of its arguments. */
  #addStartedBy(one: StartedProgram, depth: number): void {
    const name = programNameOf(one.words)
    const rest = one.words.slice(1)
    if (SHELLS.has(name)) this.#shell(one, depth)
    else if (name === 'eval') this.#parseJoined(rest[0]?.value === '--' ? rest.slice(1) : rest, depth)
    else if (name === 'trap') for (const word of rest) this.#text(word, depth)
    else if (name === 'find') this.#find(rest, depth)
    else if (name === 'xargs') this.#xargs(rest, depth)
    else if (name === 'parallel') this.#markUncertain()
    else if (this.#isUncertain(name, one)) this.#markUncertain()
  }

  #isUncertain(name: string, { isPiped, words: [, ...rest], redirects }: StartedProgram): boolean {
    if (UNCERTAIN_BUILTINS.has(name) || EDITORS.has(name)) return true
    if (SETTERS.has(name) && setsPowerful(name, [...rest, ...redirects.map(({ target }) => target)])) return true
    if (SUBSCRIPT_BUILTINS.has(name)) return rest.some((word) => !isFullyKnown(word) || word.value.includes('['))
    const has = (pattern: RegExp): boolean => rest.some(({ value }) => pattern.test(value))
    if (INTERPRETER.test(name))
      return (
        isPiped ||
        has(/^-[A-Za-z]*[ceErpnR]|^--(?:eval|print|command)|^(?:eval|-)$/) ||
        !rest.slice(0, 1 + rest.findIndex(({ value }) => !value.startsWith('-'))).every(isFullyKnown) ||
        !has(/^[^-]/)
      )
    if (/^[gmn]?awk$/.test(name))
      return rest.some((word) => !isFullyKnown(word)) || has(/system|getline|ARGV|\||@|^-f|^--/)
    if (/^g?sed$/.test(name)) return !rest.every(isFullyKnown) || has(/^-[a-zA-Z]*f|^--file/) || runsInSed(rest)
    if (name === 'git') return has(/^(?:-c|--config-env.*|run|foreach|-x.*|--exec.*|-O.*|--open.*)$/)
    return has(/^--?[\w-]*(?:exec|command|program|eval|action)\b|\bexec=/)
  }

  #shell({ words: [, ...rest], redirects }: StartedProgram, depth: number): void {
    const isOption = ({ value }: ScriptWord): boolean => /^[-+]/.test(value)
    const options = rest.filter(isOption)
    const readsArgument = options.some(({ value }) => /^-[ceux]*c[ceux]*$/.test(value))
    const isKnownOptions = options.every(({ value }) => /^-(?:[ceux]+|[eux]*o)$/.test(value))
    if (!readsArgument || !isKnownOptions) this.#markUncertain()
    for (const word of rest) if (!isOption(word)) this.#text(word, depth)
    for (const { operator, target } of redirects) if (operator.endsWith('<<<')) this.#text(target, depth)
  }

  /** Adds a word that is itself a script. */
  #text(word: ScriptWord, depth: number): void {
    this.#parseJoined([word], depth)
  }

  #parseJoined(parts: readonly ScriptWord[], depth: number): void {
    const isOverLimit = depth >= MAX_NESTING || this.started.length >= MAX_STARTED_PROGRAMS
    if (isOverLimit || !parts.every(isFullyKnown)) this.#markUncertain()
    if (!isOverLimit) this.script(parseScript(parts.map(({ value }) => value).join(' ')), depth + 1)
  }

  #find(rest: readonly ScriptWord[], depth: number): void {
    if (!rest.every(isFullyKnown)) this.#markUncertain()
    rest.forEach(({ value }, at) => {
      if (!FIND_RUNS.has(value)) return
      const after = rest.slice(at + 1)
      const end = after.findIndex(
        (word, place) => word.value === ';' || (word.value === '+' && after[place - 1]?.value === '{}'),
      )
      this.#filledIn(end < 0 ? after : after.slice(0, end), '{}', depth)
    })
  }

  #xargs(rest: readonly ScriptWord[], depth: number): void {
    let placeholder = ''
    let at = 0
    for (; rest[at]?.value.startsWith('-'); at++) {
      const option = rest[at] ?? UNKNOWN
      const [, letter = '', attached = ''] = /^-[0rtpxo]*([adEILnPsJRSeil])(.*)$/s.exec(option.value) ?? []
      if (!isFullyKnown(option) || (letter === '' && !XARGS_OPTION.test(option.value))) this.#markUncertain()
      const value = attached === '' && /[^eil]/.test(letter) ? rest[++at]?.value : attached
      if (/[IiJ]/.test(letter)) placeholder = value || '{}'
    }
    if (at < rest.length) this.#filledIn([...rest.slice(at), UNKNOWN], placeholder, depth)
  }

  /** Adds a command in which a program replaces the placeholder by an unknown value. */
  #filledIn(words: readonly ScriptWord[], placeholder: string, depth: number): void {
    const filled = words.map((word) => {
      const at = placeholder === '' ? -1 : word.value.indexOf(placeholder)
      return at < 0 ? word : { ...word, known: Math.min(word.known, at) }
    })
    this.#command({ words: filled, assignments: [], redirects: [], text: '', isPiped: false }, depth)
  }
}

/** Whether a builtin sets a variable that bash evaluates, or sets one to text that would run if evaluated. */
const setsPowerful = (name: string, rest: readonly ScriptWord[]): boolean =>
  rest.some(({ value, known }) => NAMES_POWERFUL.test(value) || /`|\$\(/.test(value.slice(0, known))) ||
  (/^(?:declare|typeset|local)$/.test(name) && rest.some(({ value }) => /^-\w*[in]/.test(value)))

/** Whether a sed script uses the command `e`, or the flag. */
function runsInSed(rest: readonly ScriptWord[]): boolean {
  const hasOption = rest.some(({ value }) => /^-[a-zA-Z]*e|^--exp/.test(value))
  const scripts = hasOption ? rest : rest.filter(({ value }) => !value.startsWith('-')).slice(0, 1)
  return scripts.some(({ value }) =>
    /(?:^|\n|\d|[^\w\s][gpiImM\d]*)\s*e/.test(value.replace(/^-[a-zA-Z]*?e|^--\w+=|^--?\w+$/, '')),
  )
}

/** Scripts in a wrapper's word: the word, an option's value, or text attached to an option: `-qc"touch x"`. */
function scriptsIn(value: string): readonly string[] {
  if (!/[\s;&|<>$`'"\\]/.test(value)) return []
  const letters = /^-[A-Za-z0-9]+/.exec(value)?.[0].length ?? 0
  const attached = Array.from({ length: Math.max(0, letters - 1) }, (_, at) => value.slice(at + 2))
  return [value, ...(value.includes('=') ? [value.slice(value.indexOf('=') + 1)] : []), ...attached]
}

/** File name of the program; empty if an expansion determines it. */
export function programNameOf([first]: readonly ScriptWord[]): string {
  return first && isFullyKnown(first) ? programBaseName(first.value) : ''
}

/**
 * Arguments, variables and redirections of each command as one text. Leaves out readers, whose words are checked
 * exactly, unless their output goes elsewhere.
 */
export function looseTexts({ started, texts }: StartedPrograms): readonly string[] {
  const isPassedOn =
    started.some((one) => one.isPiped && !isQuietReader(one)) || texts.some((text) => /`|\$\(|[<>]\(/.test(text))
  return started
    .filter((one) => isPassedOn || !isQuietReader(one))
    .map(({ words, assignments, redirects }) =>
      [...assignments, ...words.slice(1), ...redirects.map(({ target }) => target)]
        .map(({ value }) => value)
        .join(' ')
        .replaceAll(/[^\S\n]+/g, ' '),
    )
}

/** A program such as `cat` that writes no file. */
function isQuietReader({ words: [name, ...rest], assignments, redirects }: StartedProgram): boolean {
  const values = rest.map(({ value }) => value)
  const writes = redirects.some(
    ({ operator, target }) => operator.includes('>') && !/^(?:\/dev\/null|\d+|-)$/.test(target.value),
  )
  return !writes && assignments.length === 0 && readsOnly(name?.value ?? '', values)
}

const MOST_PLACES = 2000

/**
 * Every suffix that may begin with a command or a name: after a word boundary, or after any letter of an option such as
 * `-qctouch`. Also without quotes and backslashes, because the program may remove them. Undefined if there are too
 * many.
 */
export function tailsOf(text: string): readonly string[] | undefined {
  const bare = text.replaceAll(/['"\\]/g, '')
  const tails = (bare === text ? [text] : [text, bare]).flatMap((one) => placesIn(one).map((at) => one.slice(at)))
  return tails.length > MOST_PLACES ? undefined : tails
}

function placesIn(text: string): readonly number[] {
  const places = new Set<number>()
  for (const { index } of text.matchAll(/(?<![\w-])\S|[^\w\s-]/g)) places.add(index)
  for (const { 0: option, index } of text.matchAll(/(?<![\w-])-\w+/g))
    for (let at = 2; at < option.length; at++) places.add(index + at)
  return [...places].slice(0, MOST_PLACES + 1)
}

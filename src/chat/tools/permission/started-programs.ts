/** The programs that a command line starts, also through other programs, and those that only read. */
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
const TAIL_WAITS = phrase('tail waits for more', 'tail が追記を待ち続けます')

type ArgumentCheck = (values: readonly string[]) => Phrase | undefined

/** Neither writes nor runs anything, whatever its options are. */
const ANY: ArgumentCheck = () => undefined

/** What a program may not be given; options are looked at wherever they stand, also where they might be an argument of another. */
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

/** Why a command of a known reader may do more than read; nothing for all others. */
export function findArgumentDanger({ words: [name, ...rest] }: PlainCommand): Phrase | undefined {
  return READERS.get(name?.value ?? '')?.(rest.map(({ value }) => value))
}

/** The same for a program by its name and arguments: it is a known reader and does nothing else. */
const readsOnly = (name: string, values: readonly string[]): boolean =>
  isReadOnlyProgram(name) && READERS.get(name)?.(values) === undefined

/** Only by its words: which file bash takes for the program, and which files it reads, is not looked at. */
export const isReadingCommand = ({ words: [name, ...rest] }: PlainCommand): boolean =>
  readsOnly(
    name?.value ?? '',
    rest.map(({ value }) => value),
  )

/** The commands of a pipe in which all only read; nothing for any other line. */
export function parseReadingPipe(line: string): readonly PlainCommand[] | undefined {
  const pipe = parsePlainPipe(line)
  return pipe.ok && pipe.commands.every(isReadingCommand) ? pipe.commands : undefined
}

/** No `-f`, `-F`, `--follow`, `--retry` or `--pid`, in any spelling; nor `+5f`. */
const isQuietTail = (value: string): boolean =>
  !/^[-+]./.test(value) ||
  /^-[qvzr]*(?:[ncb](?:[-+]?\d+[a-zA-Z]{0,3})?)?$/.test(value) ||
  /^[-+]\d+[a-zA-Z]?$/.test(value.replace(/f$/i, '!')) ||
  /^--(?:lines|bytes|quiet|silent|verbose|zero-terminated|help|version)(?:=.*)?$/.test(value)

const isPerl = (value: string): boolean => /^-[^-]*P/.test(value) || /^--p/.test(value)

/** Of `find`: tests, harmless actions, operators and what looks like one but is a number. */
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
  /** The name first. Empty where a command only sets variables or redirects. */
  readonly words: readonly ScriptWord[]
  readonly assignments: readonly ScriptWord[]
  readonly redirects: readonly Redirect[]
  /** Reads what the one before it prints. */
  readonly isPiped: boolean
}

export interface StartedPrograms {
  readonly started: readonly StartedProgram[]
  /** As typed, one text for each simple command. */
  readonly texts: readonly string[]
  /** The shell starts nothing else. What a program such as `make` starts by itself is not meant. */
  readonly isCertain: boolean
}

/** Never throws. Finds rather too much than too little. */
export function findStartedPrograms(command: string): StartedPrograms {
  const finder = new ProgramFinder()
  finder.script(parseScript(command), 0)
  return { started: finder.started, texts: finder.texts, isCertain: finder.isCertain }
}

export const programBaseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '))

export const SHELLS = wordSet('bash sh dash ash zsh ksh mksh yash rbash fish csh tcsh pwsh')
/** They run what follows their own options: each of their words may be the name of a program. */
const WRAPPERS = wordSet(
  'env command exec builtin coproc function time nohup nice ionice chrt taskset timeout stdbuf setsid setpriv sudo doas su runuser pkexec xargs parallel watch script unshare nsenter chroot firejail bwrap proot fakeroot strace ltrace busybox toybox flock ssh entr systemd-run setarch linux32 linux64 unbuffer rlwrap torsocks proxychains caffeinate arch npx jobs sg prlimit choom numactl start-stop-daemon gosu su-exec',
)
/** The loader of programs, which is given one: `ld-linux-x86-64.so.2`. */
const LOADER = /^ld[\w.-]*\.so[\d.]*$/
/** Builtins after which bash may run what stands in no command. */
const UNCERTAIN_BUILTINS = wordSet('. source alias shopt enable hash compgen complete bind fc let mapfile readarray')
/** Builtins that evaluate subscripts in their arguments, substitutions included. */
const SUBSCRIPT_BUILTINS = wordSet('declare typeset local readonly export unset read getopts wait printf test [')
/** They set variables, or the parameters that a loop assigns. */
const SETTERS = wordSet('declare typeset local readonly export unset read getopts wait printf for select set')
export const INTERPRETER = /^(?:python[\d.]*|perl[\d.]*|ruby|node|deno|bun|php|lua[\d.]*|tclsh|wish|Rscript|osascript)$/
const EDITORS = wordSet('vi vim nvim view ex ed emacs gdb lldb')
const FIND_RUNS = wordSet('-exec -execdir -ok -okdir')
/** Options of xargs without a value, or with it behind `=`; those that name a placeholder are not among them. */
const XARGS_OPTION =
  /^-[0rtpxo]+$|^--(?:null|no-run-if-empty|verbose|interactive|exit|open-tty)$|^--(?:max-[a-z]+|delimiter|arg-file|eof)=/

/** Scripts in scripts are followed so far. */
const MAX_NESTING = 5
/** Words of a wrapper that are looked at as names of programs. */
const MAX_WRAPPER_WORDS = 50
/** A command that starts more programs is not judged to its end. */
const MAX_STARTED_PROGRAMS = 500

/** What a program reads elsewhere and puts into a command. */
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
    // The variable may name what the program runs: `GIT_EXTERNAL_DIFF=$x git diff`.
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

  /** What a program is told to run in its arguments. */
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

  /** A word that is a script of its own. */
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

  /** A command in which a program replaces the placeholder by something that is not known. */
  #filledIn(words: readonly ScriptWord[], placeholder: string, depth: number): void {
    const filled = words.map((word) => {
      const at = placeholder === '' ? -1 : word.value.indexOf(placeholder)
      return at < 0 ? word : { ...word, known: Math.min(word.known, at) }
    })
    this.#command({ words: filled, assignments: [], redirects: [], text: '', isPiped: false }, depth)
  }
}

/** Whether a builtin sets a variable that bash evaluates, or one to a text that would be run if bash evaluated it. */
const setsPowerful = (name: string, rest: readonly ScriptWord[]): boolean =>
  rest.some(({ value, known }) => NAMES_POWERFUL.test(value) || /`|\$\(/.test(value.slice(0, known))) ||
  (/^(?:declare|typeset|local)$/.test(name) && rest.some(({ value }) => /^-\w*[in]/.test(value)))

/** Whether a script of sed has the command `e`, or the flag. */
function runsInSed(rest: readonly ScriptWord[]): boolean {
  const hasOption = rest.some(({ value }) => /^-[a-zA-Z]*e|^--exp/.test(value))
  const scripts = hasOption ? rest : rest.filter(({ value }) => !value.startsWith('-')).slice(0, 1)
  return scripts.some(({ value }) =>
    /(?:^|\n|\d|[^\w\s][gpiImM\d]*)\s*e/.test(value.replace(/^-[a-zA-Z]*?e|^--\w+=|^--?\w+$/, '')),
  )
}

/** Scripts that a word of a wrapper may hold: itself, the value of an option, or what is attached to one: `-qc"touch x"`. */
function scriptsIn(value: string): readonly string[] {
  if (!/[\s;&|<>$`'"\\]/.test(value)) return []
  const letters = /^-[A-Za-z0-9]+/.exec(value)?.[0].length ?? 0
  const attached = Array.from({ length: Math.max(0, letters - 1) }, (_, at) => value.slice(at + 2))
  return [value, ...(value.includes('=') ? [value.slice(value.indexOf('=') + 1)] : []), ...attached]
}

/** The file name of the program, or nothing where an expansion decides it. */
export function programNameOf([first]: readonly ScriptWord[]): string {
  return first && isFullyKnown(first) ? programBaseName(first.value) : ''
}

/**
 * The arguments, variables and redirections of each command as one text. Readers are left out: all that they do with their words
 * is judged exactly, as long as what they print goes nowhere.
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
 * What follows each place where a command or a name may begin: a word, or any letter of an option such as `-qctouch`. Quotes and
 * backslashes are also taken out, because the program may do so. Nothing where there are too many places.
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

/** Which programs a script starts, also through others: `env touch x`, `bash -c 'touch x'`, `find . -exec touch {} +`. */
import {
  isKnown,
  POWERFUL,
  parseScript,
  type Redirect,
  type Script,
  type ScriptCommand,
  type ScriptWord,
} from '../../../lib/shell/script.ts'

/** A program with its arguments. */
export interface Started {
  /** The name first. Empty where a command only sets variables or redirects. */
  readonly words: readonly ScriptWord[]
  readonly redirects: readonly Redirect[]
  /** Reads what the one before it prints. */
  readonly isPiped: boolean
}

export interface AllStarted {
  readonly started: readonly Started[]
  /** As typed, one text for each simple command. */
  readonly texts: readonly string[]
  /** The shell starts nothing else. What a program such as `make` starts by itself is not meant. */
  readonly isCertain: boolean
}

/** Never throws. Finds rather too much than too little. */
export function startedBy(command: string): AllStarted {
  const finder = new Finder()
  finder.script(parseScript(command), 0)
  return { started: finder.started, texts: finder.texts, isCertain: finder.isCertain }
}

export const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

export const SHELLS = words('bash sh dash ash zsh ksh mksh yash rbash fish csh tcsh pwsh')
/** They run what follows their own options: each of their words may be the name of a program. */
const WRAPPERS = words(
  'env command exec builtin coproc function time nohup nice ionice chrt taskset timeout stdbuf setsid setpriv sudo doas su runuser pkexec xargs parallel watch script unshare nsenter chroot firejail bwrap proot fakeroot strace ltrace busybox toybox flock ssh entr systemd-run setarch linux32 linux64 unbuffer rlwrap torsocks proxychains caffeinate arch npx',
)
/** Builtins after which bash may run what stands in no command. */
const UNCERTAIN_BUILTINS = words('. source alias shopt enable hash compgen complete bind fc let mapfile readarray')
/** Builtins that evaluate subscripts in their arguments, substitutions included. */
const SUBSCRIPT_BUILTINS = words('declare typeset local readonly export unset read getopts wait printf test [')
export const INTERPRETER = /^(?:python[\d.]*|perl[\d.]*|ruby|node|deno|bun|php|lua[\d.]*|tclsh|wish|Rscript|osascript)$/
const EDITORS = words('vi vim nvim view ex ed emacs gdb lldb')
const FIND_RUNS = words('-exec -execdir -ok -okdir')

/** Scripts in scripts are followed so far. */
const MOST_NESTED = 5
/** Words of a wrapper that are looked at as names of programs. */
const MOST_SUFFIXES = 50
/** A command that starts more programs is not judged to its end. */
const MOST_STARTED = 500

class Finder {
  readonly started: Started[] = []
  readonly texts: string[] = []
  isCertain = true

  script({ commands, isCertain }: Script, depth: number): void {
    if (!isCertain) this.#doubt()
    for (const command of commands) {
      this.texts.push(command.text)
      this.#command(command, depth)
    }
  }

  #doubt(): void {
    this.isCertain = false
  }

  #command(command: ScriptCommand, depth: number): void {
    const { words, redirects, isPiped } = command
    this.#add({ words, redirects, isPiped }, depth)
    if (!WRAPPERS.has(nameOf(words))) return
    if (words.length > MOST_SUFFIXES) this.#doubt()
    for (let at = 1; at < Math.min(words.length, MOST_SUFFIXES); at++) {
      const inner = { words: words.slice(at), redirects, isPiped }
      const first = words[at]
      if (first === undefined) continue
      if (POWERFUL.test(first.value) || /^-[a-zA-Z]*S|^--s/.test(first.value)) this.#doubt()
      if (first.value.startsWith('-') && isKnown(first)) continue
      this.#add(inner, depth)
      if (/[\s;&|]/.test(first.value)) this.#text(first, depth)
    }
  }

  #add(one: Started, depth: number): void {
    if (this.started.length >= MOST_STARTED) {
      this.#doubt()
      return
    }
    this.started.push(one)
    this.#through(one, depth)
  }

  /** What a program is told to run in its arguments. */
  #through(one: Started, depth: number): void {
    const name = nameOf(one.words)
    const rest = one.words.slice(1)
    if (SHELLS.has(name)) this.#shell(one, depth)
    else if (name === 'eval') this.#joined(rest, depth)
    else if (name === 'trap' && rest[0]) this.#text(rest[0], depth)
    else if (name === 'find') this.#find(rest, depth)
    else if (this.#isUncertain(name, one)) this.#doubt()
  }

  #isUncertain(name: string, { isPiped, words: [, ...rest] }: Started): boolean {
    if (UNCERTAIN_BUILTINS.has(name) || EDITORS.has(name)) return true
    if (SUBSCRIPT_BUILTINS.has(name))
      return rest.some((word) => !isKnown(word) || /\[|`|\$\(/.test(word.value) || POWERFUL.test(word.value))
    const has = (pattern: RegExp): boolean => rest.some(({ value }) => pattern.test(value))
    if (INTERPRETER.test(name))
      return isPiped || has(/^-[A-Za-z]*[ceErpnR]|^--(?:eval|print|command)|^(?:eval|-)$/) || !has(/^[^-]/)
    if (/^[gmn]?awk$/.test(name)) return rest.some((word) => !isKnown(word)) || has(/system|getline|\||@|^-f|^--/)
    if (/^g?sed$/.test(name))
      return (
        rest.some((word) => !isKnown(word)) ||
        has(/^-[a-zA-Z]*f|^--file|(?:^|[\s;{}\d$/])e(?:\s|$)|[^\w\s][gpiImM\d]*e/)
      )
    if (name === 'git') return has(/^(?:-c|--config-env.*|run|foreach|-x.*|--exec.*|-O.*|--open.*)$/)
    return has(/^--?[\w-]*(?:exec|command)\b|\bexec=/)
  }

  #shell({ words: [, ...rest], redirects }: Started, depth: number): void {
    const isOption = ({ value }: ScriptWord): boolean => /^[-+]/.test(value)
    const options = rest.filter(isOption)
    const readsArgument = options.some(({ value }) => /^-[ceux]*c[ceux]*$/.test(value))
    const isUsual = options.every(({ value }) => /^-(?:[ceux]+|[eux]*o)$/.test(value))
    if (!readsArgument || !isUsual) this.#doubt()
    for (const word of rest) if (!isOption(word)) this.#text(word, depth)
    for (const { operator, target } of redirects) if (operator.endsWith('<<<')) this.#text(target, depth)
  }

  /** A word that is a script of its own. */
  #text(word: ScriptWord, depth: number): void {
    this.#joined([word], depth)
  }

  #joined(parts: readonly ScriptWord[], depth: number): void {
    const isTooMuch = depth >= MOST_NESTED || this.started.length >= MOST_STARTED
    if (isTooMuch || !parts.every(isKnown)) this.#doubt()
    if (!isTooMuch) this.script(parseScript(parts.map(({ value }) => value).join(' ')), depth + 1)
  }

  #find(rest: readonly ScriptWord[], depth: number): void {
    if (!rest.every(isKnown)) this.#doubt()
    rest.forEach(({ value }, at) => {
      if (!FIND_RUNS.has(value)) return
      const after = rest.slice(at + 1)
      const end = after.findIndex((word) => word.value === ';' || word.value === '+')
      const words = end < 0 ? after : after.slice(0, end)
      this.#command({ words, assignments: [], redirects: [], text: '', isPiped: false }, depth)
    })
  }
}

/** The file name of the program, or nothing where an expansion decides it. */
export function nameOf([first]: readonly ScriptWord[]): string {
  return first && isKnown(first) ? baseName(first.value) : ''
}

/** Rules that the user made by answering a question: a command prefix, a directory or a tool, for a chat or always. */
import { dirname, join } from 'node:path'
import { replaceOwnFile } from '../../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { statOf } from '../../../lib/files/safe-fs.ts'
import { parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import { fieldsOf, listOf, parseStructure, stringOf } from '../../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'
import { isInsideFolder } from '../files/tool-paths.ts'
import type { CallNeed } from '../tool.ts'

export type UserRule =
  /** Plain commands whose first words are these. */
  | { readonly kind: 'command'; readonly words: readonly string[] }
  /** Exactly these words. */
  | { readonly kind: 'exact'; readonly words: readonly string[] }
  /** Changes of files below this directory, with links resolved. */
  | { readonly kind: 'directory'; readonly path: string }

/** Programs whose second word says what they do. Other programs are allowed only with exactly the same words. */
const WITH_SUBCOMMAND = new Set(
  'git npm pnpm yarn bun cargo go docker podman kubectl make just gradle mvn dotnet pip uv poetry terraform gh'.split(
    ' ',
  ),
)
const RUNS_SCRIPT = new Set(['run', 'run-script', 'exec', 'x', 'compose'])

/** The rule that `s` and `a` would add. Undefined for what may destroy something, or cannot be parsed. */
export function suggestRule({ level, command, paths }: CallNeed): UserRule | undefined {
  if (level === 'dangerous') return undefined
  if (command !== undefined) {
    const [words, ...others] = plainWords(command) ?? []
    if (!words || others.length > 0) return undefined
    const [program = '', second = '', third = ''] = words
    if (!WITH_SUBCOMMAND.has(program) || !/^[a-z][\w:-]*$/.test(second)) return { kind: 'exact', words }
    if (!RUNS_SCRIPT.has(second)) return { kind: 'command', words: [program, second] }
    return third === '' ? { kind: 'exact', words } : { kind: 'command', words: [program, second, third] }
  }
  const [path] = paths ?? []
  return path === undefined ? undefined : { kind: 'directory', path: dirname(path.real) }
}

function plainWords(command: string): readonly (readonly string[])[] | undefined {
  const parsed = parsePlainPipe(command)
  return parsed.ok ? parsed.commands.map(({ words }) => words.map(({ value }) => value)) : undefined
}

export function isAllowedBy({ command, paths, stale }: CallNeed, rules: readonly UserRule[]): boolean {
  if (stale || rules.length === 0) return false
  if (command !== undefined) {
    const commands = plainWords(command) ?? []
    return commands.length > 0 && commands.every((words) => rules.some((rule) => matchesWords(rule, words)))
  }
  if (!paths || paths.length === 0) return false
  return paths.every(({ real }) => rules.some((rule) => rule.kind === 'directory' && isInsideFolder(real, rule.path)))
}

function matchesWords(rule: UserRule, words: readonly string[]): boolean {
  if (rule.kind === 'directory') return false
  if (rule.kind === 'exact' && rule.words.length !== words.length) return false
  return rule.words.every((word, at) => words[at] === word)
}

export function ruleLabel(rule: UserRule): Phrase {
  if (rule.kind === 'directory') return phrase(`writes below ${rule.path}`, `${rule.path} 以下への書き込み`)
  const words = rule.words.join(' ')
  return rule.kind === 'exact' ? phrase(words, words) : phrase(`${words} …`, `${words} …`)
}

const isSameRule = (a: UserRule, b: UserRule): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Rules for always: of one directory each, in a file that only the user can write. */
export class RuleStore {
  readonly #path: string
  readonly #directory: string

  /** @param directory of the chat, with links resolved. Its rules apply nowhere else */
  constructor(data: string, directory: string) {
    this.#path = join(data, 'permissions.json')
    this.#directory = directory
  }

  rules(): readonly UserRule[] {
    return this.#read().get(this.#directory) ?? []
  }

  /** Throws AppError. */
  add(rule: UserRule): void {
    const rules = this.rules()
    if (!rules.some((one) => isSameRule(one, rule))) this.#write([...rules, rule])
  }

  /** Throws AppError. */
  remove(rule: UserRule): void {
    this.#write(this.rules().filter((one) => !isSameRule(one, rule)))
  }

  #write(rules: readonly UserRule[]): void {
    const all = new Map(this.#read()).set(this.#directory, rules)
    const directories = Object.fromEntries([...all].filter(([, list]) => list.length > 0))
    replaceOwnFile(this.#path, `${JSON.stringify({ directories }, null, 2)}\n`)
  }

  /** A damaged file, or one that others can write, has no rules: the user is asked again. */
  #read(): ReadonlyMap<string, readonly UserRule[]> {
    try {
      const mode = statOf(this.#path)?.mode ?? 0
      if (process.platform !== 'win32' && (mode & 0o022) !== 0) return new Map()
      const fields = fieldsOf(fieldsOf(parseStructure(readRegularFile(this.#path).toString('utf8')))?.['directories'])
      return new Map(Object.entries(fields ?? {}).map(([path, list]) => [path, listOf(list).flatMap(readRule)]))
    } catch {
      return new Map()
    }
  }
}

function readRule(value: unknown): readonly UserRule[] {
  const rule = fieldsOf(value)
  const path = stringOf(rule?.['path'])
  const words = listOf(rule?.['words']).filter((word) => typeof word === 'string')
  const kind = rule?.['kind']
  if (kind === 'directory') return path ? [{ kind, path }] : []
  return (kind === 'command' || kind === 'exact') && words.length > 0 ? [{ kind, words }] : []
}

/** Decides about the paths that a call reads or writes: those of file tools, and those that a command names. */
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path'
import { anchorPattern, compileGlob } from '../../../lib/files/glob.ts'
import { isFolder, listEntries, statOf } from '../../../lib/files/safe-fs.ts'
import type { PlainCommand } from '../../../lib/shell/plain-commands.ts'
import { isFullyKnown, type ScriptWord } from '../../../lib/shell/script.ts'
import { resolveRealPath, stepsTo } from '../files/tool-paths.ts'
import type { CallNeed, ResolvedPath, Workspace } from '../tool.ts'
import type { PermissionDecision, PermissionRules } from './permission.ts'
import {
  isReadOnlyProgram,
  looseTexts,
  programNameOf,
  type StartedProgram,
  type StartedPrograms,
} from './started-programs.ts'

export function decidePaths(need: CallNeed, listed: boolean, rules: PermissionRules): PermissionDecision {
  const paths = need.paths ?? []
  const reads = need.level === 'read-only'
  const { allowedPaths, deniedPaths } = reads ? rules.settings.fs_read : rules.settings.fs_write
  const denied = deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  const deniedPath = paths.find((path) => denied.some((matches) => matches(path.named) || matches(path.real)))
  if (deniedPath) return { kind: 'deny', reason: `${deniedPath.named} is among the denied paths` }
  if (listed || (reads && rules.settings.fs_read.allowReadOnly)) return { kind: 'allow' }
  const allowed = allowedPaths.map((pattern) => pathMatcher(pattern, rules))
  const isInDirectory = (path: string): boolean => reads && restBelow(resolve(rules.cwd), path) !== undefined
  const isAllowed = ({ real }: ResolvedPath): boolean => isInDirectory(real) || allowed.some((matches) => matches(real))
  return paths.length > 0 && paths.every(isAllowed) ? { kind: 'allow' } : { kind: 'ask' }
}

/** Whether reading the path is always denied. For tools that search more files than they are given. */
export function isDeniedToRead(rules: Pick<PermissionRules, 'settings' | 'cwd' | 'home'>): (path: string) => boolean {
  const denied = rules.settings.fs_read.deniedPaths.map((pattern) => deniedPlace(pattern, rules))
  return (path) => denied.some((matches) => matches(path))
}

/** Whether a folder may contain a denied path. For programs that read everything below a folder. */
function containsDenied(rules: Pick<PermissionRules, 'settings' | 'cwd' | 'home'>): (folder: string) => boolean {
  const bases = rules.settings.fs_read.deniedPaths
    .map((pattern) => anchorPattern(pattern, rules.cwd, rules.home))
    .flatMap(({ base, below }) => basesOf(base).map((one) => ({ base: one, below })))
  // Below the base of a pattern, each folder may contain a match.
  return (folder) =>
    bases.some(({ base, below }) => isAtOrBelow(folder, base) || (below !== '' && isAtOrBelow(base, folder)))
}

/** Whether a path is the folder or inside it. */
const isAtOrBelow = (folder: string, path: string): boolean => restBelow(folder, path) !== undefined

/** Matches the path, or what the pattern matches, and everything below it. */
function pathMatcher(pattern: string, { cwd, home }: Pick<PermissionRules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = anchorPattern(pattern, cwd, home)
  return within([base], below)
}

/**
 * A denied place also covers what its links lead to. An allowed place does not, because a link in the project could
 * widen it.
 */
function deniedPlace(pattern: string, { cwd, home }: Pick<PermissionRules, 'cwd' | 'home'>): (path: string) => boolean {
  const { base, below } = anchorPattern(pattern, cwd, home)
  return within(basesOf(base), below)
}

function within(bases: readonly string[], below: string): (path: string) => boolean {
  if (below === '') return (path) => bases.some((folder) => restBelow(folder, path) !== undefined)
  const one = compileGlob(below)
  const deeper = compileGlob(`${below}/**`)
  return (path) =>
    bases.some((folder) => {
      const rest = restBelow(folder, path) ?? ''
      return rest !== '' && (one.test(rest) || deeper.test(rest))
    })
}

/** As written in the rule, and with links resolved: the home directory may be a link. */
const basesOf = (base: string): readonly string[] => [...new Set([base, resolveRealPath(base)])]

/** Relative path with `/`; undefined if the path is outside the folder. */
function restBelow(folder: string, path: string): string | undefined {
  if (path === folder) return ''
  const inside = folder.endsWith(sep) ? folder : folder + sep
  return path.startsWith(inside) ? path.slice(inside.length).split(sep).join('/') : undefined
}

/**
 * Whether a command reads where `fs_read.deniedPaths` forbids it. `yes`: one of its words is such a path. `maybe`: it
 * might, because of a pattern, an expansion, a searched folder, a denied file's name inside a word, or because it
 * changes directory or moves files.
 */
export function checkDeniedReads(
  all: StartedPrograms,
  rules: PermissionRules,
): { readonly is: 'yes' | 'maybe' | 'no'; readonly byReader: boolean } {
  if (rules.settings.fs_read.deniedPaths.length === 0) return { is: 'no', byReader: false }
  const isDenied = isDeniedToRead(rules)
  const contains = containsDenied(rules)
  const isDeniedPath = ({ named, real }: ResolvedPath): boolean => isDenied(named) || isDenied(real)
  let maybe = !all.isCertain || namesDenied(all, rules.settings.fs_read.deniedPaths)
  const pathAt = pathsFrom(rules)
  for (const one of all.started) {
    const named = findNamedPaths(one, rules, pathAt)
    if (named.sure.some(isDeniedPath)) return { is: 'yes', byReader: isReadOnlyProgram(programNameOf(one.words)) }
    maybe ||= named.isOpen || named.followsLinks || named.possible.some(isDeniedPath)
    maybe ||= [...named.sure, ...named.possible].some(({ isMachine }) => isMachine)
    if (named.mayReadBelow)
      maybe ||= [...named.sure, ...named.possible].some(
        ({ named, real }) => isFolder(real) && (contains(named) || contains(real)),
      )
  }
  return { is: maybe ? 'maybe' : 'no', byReader: false }
}

/** Whether arguments of programs with unknown ways to read files contain a denied file's name: `sed 'r secret'`. */
function namesDenied(all: StartedPrograms, denied: readonly string[]): boolean {
  const names = denied.flatMap((pattern) => nameIn(pattern) ?? [])
  return looseTexts(all).some((text) => names.some((name) => name.test(text)))
}

/**
 * The last fixed name in a pattern: `secret` of `secret/**`, `.pem` of `*.pem`. A short name must be a complete word.
 */
function nameIn(pattern: string): RegExp | undefined {
  const steps = pattern.split('/').map((step) => step.split(/[*?[\]]+/).sort((a, b) => b.length - a.length)[0] ?? '')
  const name = steps.findLast((step) => /\w/.test(step))
  if (name === undefined) return undefined
  const before = name.length < 4 && /^\w/.test(name) ? '(?<![A-Za-z0-9])' : ''
  return new RegExp(`${before}${name.replaceAll(/[.+^${}()|\\]/g, '\\$&')}(?![A-Za-z0-9])`, 'i')
}

interface PassedPath extends ResolvedPath {
  /** The path leads through something that is not a file on disk. */
  readonly isMachine: boolean
}

interface NamedPaths {
  /** Words, values of options and targets of redirections. */
  readonly sure: readonly PassedPath[]
  /** Parts of words, and matches of patterns. */
  readonly possible: readonly PassedPath[]
  /** An expansion or another command determines what is read. */
  readonly isOpen: boolean
  /** Certainly reads everything below its folders. */
  readonly isTree: boolean
  /** Reads everything below its folders, or is an unknown program. */
  readonly mayReadBelow: boolean
  /** Also follows links below them. */
  readonly followsLinks: boolean
}

/** Limit of words that are checked. */
const MAX_WORDS = 1000
/** Programs whose arguments are not files. */
const PROGRAMS_WITHOUT_FILES = new Set(['echo', 'pwd', 'type', 'which', 'true', 'false', ':'])
/** Programs that read only the names in a folder, unless an option says otherwise. */
const FLAT = new Set('ls dir cat head tail grep egrep fgrep wc stat file test [ mkdir basename dirname'.split(' '))
/** Programs that change which file a path refers to, now or for the next command. */
const DIRECTORY_CHANGERS = new Set('cd pushd popd mv ln'.split(' '))
/** Programs that read file names from their input. */
const NAMES_FROM_INPUT = new Set('xargs parallel cpio pax'.split(' '))
/** Options that change the working folder, or read file names from a file. */
const ELSEWHERE = /^-[^-]*C|^--(?:ch|dir|cwd|work|prefix|git-dir)|^--[\w-]*from|^--files/
const TREE_READERS = new Set('find rg ag ack fd tree tar cp rsync scp zip 7z du rgrep'.split(' '))

function findNamedPaths(
  { words, redirects }: StartedProgram,
  workspace: Workspace,
  pathAt = pathsFrom(workspace),
): NamedPaths {
  const name = programNameOf(words)
  const rest = words.slice(1)
  const files = PROGRAMS_WITHOUT_FILES.has(name) ? rest.filter((word) => hasPattern(word)) : withoutPattern(name, rest)
  const isTree = isTreeReader(name, rest)
  const all = [...files, ...redirects.map(({ target }) => target)].slice(0, MAX_WORDS)
  const certain = all.filter(isFullyKnown).flatMap(({ value }) => pathsInWord(value))
  const globs = all.filter((word) => !isFullyKnown(word) && hasPattern(word))
  const expanded = globs.map(({ value }) => expandGlob(value, workspace.cwd))
  const possible = [
    ...all.filter(isFullyKnown).flatMap(({ value }) => piecesOf(value)),
    ...expanded.flatMap((found) => found ?? []),
  ]
  const isOpen =
    (words.length > 0 && name === '') ||
    DIRECTORY_CHANGERS.has(name) ||
    NAMES_FROM_INPUT.has(name) ||
    (!isReadOnlyProgram(name) && rest.some(({ value }) => ELSEWHERE.test(value))) ||
    expanded.includes(undefined) ||
    rest.some(({ value }) => /^-[^-]/.test(value) && value.length > MAX_OPTION_LETTERS) ||
    words.length > MAX_WORDS ||
    all.some((word) => word.value.includes('\0') || (!isFullyKnown(word) && !globs.includes(word)))
  const implicit = isTree && readsWorkingDirectory(name, rest, files) ? ['.'] : []
  return {
    sure: [...new Set([...implicit, ...certain])].map(pathAt),
    possible: [...new Set(possible)].map(pathAt),
    isOpen,
    isTree,
    mayReadBelow: isTree || !(FLAT.has(name) || PROGRAMS_WITHOUT_FILES.has(name)),
    followsLinks: isTree && followsLinks(name, rest),
  }
}

/** Cached, because a command may contain the same path a thousand times. */
function pathsFrom(workspace: Workspace): (path: string) => PassedPath {
  const seen = new Map<string, PassedPath>()
  return (path) => {
    const found = seen.get(path) ?? passedPath(path, workspace)
    seen.set(path, found)
    return found
  }
}

/** Resolves a path like the system, link by link. */
function passedPath(path: string, { cwd }: Workspace): PassedPath {
  const named = resolve(cwd, path)
  const steps = stepsTo(path, cwd)
  const real = steps?.at(-1) ?? named
  // Only under this name: a path through /proc/self that is /dev/null for us is something else for the command.
  return { named, real, isMachine: path !== '/dev/null' && [named, ...(steps ?? [])].some(isMachine) }
}

/** Whether the program reads the working directory by default. */
function readsWorkingDirectory(name: string, rest: readonly ScriptWord[], files: readonly ScriptWord[]): boolean {
  const operands = files.filter(({ value }) => !value.startsWith('-'))
  const options = rest.filter(({ value }) => value.startsWith('-'))
  if (name === 'find') return !/^[^-(!]/.test(rest[0]?.value ?? '')
  if (name === 'grep') return files === rest || operands.length === 0
  if (name === 'ls' || name === 'dir')
    return (
      operands.length === 0 ||
      !options.every(({ value }) => /^-[a-zA-HJ-SU-Z1]+$|^--[a-z-]+=/.test(value) && !value.includes('w'))
    )
  return true
}

function followsLinks(name: string, rest: readonly ScriptWord[]): boolean {
  const options = isGrep(name) ? /^-(?!-).*R|^--der/s : /^-(?!-).*[LH]|^-+(?:follow|deref|copy-links)/s
  return rest.some(({ value }) => options.test(value))
}

/** Contains a pattern and no other expansion. */
const hasPattern = ({ value, known }: ScriptWord): boolean =>
  known < value.length && /^[*?[]/.test(value.slice(known)) && !/[$`{]/.test(value)

/** Removes grep's first operand, which is not a file, if it is certain which word that is. */
function withoutPattern(name: string, rest: readonly ScriptWord[]): readonly ScriptWord[] {
  if (name !== 'grep') return rest
  const at = rest.findIndex(({ value }) => !value.startsWith('-'))
  const before = rest.slice(0, at)
  const isSure =
    at >= 0 && before.every((word) => isFullyKnown(word) && /^-[chilnoqrsvwxyEFGHIRLTUVZz]+$/.test(word.value))
  const hasOther = rest.some(({ value }) => /^-(?!-).*[ef]|^--(?:r|f)/s.test(value))
  return isSure && !hasOther ? rest.toSpliced(at, 1) : rest
}

const isGrep = (name: string): boolean => /^[ef]?grep$/.test(name)

function isTreeReader(name: string, rest: readonly ScriptWord[]): boolean {
  if (TREE_READERS.has(name)) return true
  const has = (pattern: RegExp): boolean => rest.some(({ value }) => pattern.test(value))
  if (isGrep(name)) return has(/^-(?!-).*[rRd]|^--(?:rec|der|di)/s)
  if (name === 'ls' || name === 'dir') return has(/^-(?!-).*R|^--rec/s)
  return name === 'git' && has(/^grep$/)
}

const isPath = (text: string): boolean => text !== '' && !text.includes('\0')

/** The word, and an option's value in it. */
function pathsInWord(value: string): readonly string[] {
  const paths = [value]
  if (value.includes('=')) paths.push(value.slice(value.indexOf('=') + 1))
  if (/^-[^-]./.test(value)) paths.push(value.slice(2))
  return paths.filter(isPath)
}

/** Longer words are not split letter by letter. */
const MAX_OPTION_LETTERS = 300

/** Parts of a word that a program might treat as a path: `-rfsecret`, `HEAD:secret`, `@secret`. */
function piecesOf(value: string): readonly string[] {
  const pieces = /[=:,@]/.test(value) ? value.split(/[=:,@]/) : []
  if (/^-[^-]/.test(value))
    for (let at = 3; at < Math.min(value.length, MAX_OPTION_LETTERS); at++) pieces.push(value.slice(at))
  return pieces.filter(isPath)
}

const MAX_MATCHES = 1000

/** Files that a bash pattern may match, including hidden ones; undefined if there are too many. */
function expandGlob(pattern: string, cwd: string): readonly string[] | undefined {
  let found: readonly string[] = [pattern.startsWith('/') ? '/' : '.']
  for (const step of pattern.split('/').filter((one) => one !== '')) {
    if (!/[*?[]/.test(step)) found = found.map((folder) => `${folder}/${step}`)
    else {
      const matches = stepMatcher(step)
      found = found.flatMap((folder) =>
        listEntries(stepsTo(folder, cwd)?.at(-1) ?? '').flatMap(({ name }) =>
          matches.test(name) ? [`${folder}/${name}`] : [],
        ),
      )
    }
    if (found.length > MAX_MATCHES) return undefined
  }
  return found
}

/** Matches too much rather than too little: a character class matches anything. */
function stepMatcher(step: string): RegExp {
  const literal = /^[^*?[]*/.exec(step)?.[0] ?? ''
  return new RegExp(`^${literal.replaceAll(/[.+^${}()|\]\\]/g, '\\$&')}`, 'u')
}

/** Reading these can block, act, or reveal variables of other programs. */
const DEVICE_FOLDERS = ['/dev', '/proc', '/sys']

const isMachine = (path: string): boolean => DEVICE_FOLDERS.some((folder) => isAtOrBelow(folder, path))

/** Whether reading commands access, or may access, something that is not a file on disk. */
export function readsDeviceFiles(all: StartedPrograms, workspace: Workspace): boolean {
  return all.started.some((one) => {
    const { sure: certain, possible, isTree, isOpen, followsLinks } = findNamedPaths(one, workspace)
    const holdsMachine = (path: string): boolean => isTree && DEVICE_FOLDERS.some((folder) => isAtOrBelow(path, folder))
    // A link below the folder may lead there.
    if (isOpen || followsLinks) return true
    return [...certain, ...possible].some((path) => path.isMachine || holdsMachine(path.real))
  })
}

/** Builtins. Other programs are searched for in the folders of PATH. */
const BUILTINS = new Set(['echo', 'pwd', 'type'])

/**
 * Whether bash would use a program of the project instead of one of these: PATH may contain project folders, as in npm
 * scripts.
 */
export function findsProjectPrograms(
  commands: readonly PlainCommand[],
  { cwd }: Workspace,
  path: string = process.env['PATH'] ?? '',
): boolean {
  const folders = path
    .split(delimiter)
    .map((folder) => ({ folder: resolve(cwd, folder), isOwn: !isProjectFolder(folder, cwd) }))
  return commands.some(({ words: [word] }) => {
    const name = word?.value ?? ''
    if (BUILTINS.has(name)) return false
    const first = folders.find(({ folder }) => statOf(join(folder, name))?.isFile())
    return first?.isOwn === false
  })
}

const isProjectFolder = (folder: string, cwd: string): boolean =>
  !isAbsolute(folder) ||
  /node_modules[\\/]\.bin[\\/]?$/.test(folder) ||
  isAtOrBelow(cwd, resolve(folder)) ||
  isAtOrBelow(cwd, resolveRealPath(folder))

/** The user's decisions: trusted project files, chosen directories and agents, context files outside the project. */
import { realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { statOf } from '../../lib/files/safe-fs.ts'
import { isSameJson } from '../../lib/json/compare.ts'
import { fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import type { ChatDirectoryWarning } from '../../model/api/chat.ts'

export interface FileFingerprint {
  readonly path: string
  /** Hash of the exact bytes of the file. */
  readonly sha256: string
  /** Hash of the file that `prompt` names; null if the prompt is in the agent file itself. */
  readonly prompt_sha256: string | null
}

interface TrustedFile extends FileFingerprint {
  readonly at: string
}

/** A context path outside the project that the user typed. */
interface ContextPath {
  /** Absolute path or pattern. */
  readonly rule: string
  /** The resolved location when the user typed it: the file, or the base folder of a pattern. */
  readonly real: string
}

/** The user's choices for one chat. They take precedence over the journal, which may be imported. */
interface ChatChoices {
  /** Overrides the directory in the journal. */
  readonly directory?: string
  /** Only set for agents other than the default. */
  readonly agent?: ChosenAgent
}

export interface ChosenAgent {
  readonly name: string
  readonly place: 'own' | 'project'
  readonly path: string | null
}

interface Decisions {
  readonly files: readonly TrustedFile[]
  /** Directories in which the user started or confirmed a chat, newest last. */
  readonly directories: readonly string[]
  readonly conversations: ReadonlyMap<string, ChatChoices>
  readonly context: readonly ContextPath[]
}

const NO_DECISIONS: Decisions = { files: [], directories: [], conversations: new Map(), context: [] }

/** Above this, the oldest decisions are dropped, and the user is asked again. */
const MAX_DECISIONS = 2000

/**
 * Read again for each question, so that decisions of other processes count. A damaged file, or one that other users can
 * write, counts as empty: the user is asked again.
 */
export class TrustStore {
  readonly path: string

  constructor(data: string) {
    this.path = join(data, 'trust.json')
  }

  files(): readonly TrustedFile[] {
    return this.#read().files
  }

  isTrusted(file: FileFingerprint): boolean {
    return this.files().some(
      ({ path, sha256, prompt_sha256 }) =>
        path === file.path && sha256 === file.sha256 && prompt_sha256 === file.prompt_sha256,
    )
  }

  wasTrusted({ path }: Pick<FileFingerprint, 'path'>): boolean {
    return this.files().some((one) => one.path === path)
  }

  /** Replaces the trusted version of this path. Throws AppError. */
  add({ path, sha256, prompt_sha256 }: FileFingerprint): void {
    const now = this.#read()
    const at = new Date().toISOString()
    const others = now.files.filter((one) => one.path !== path)
    this.#write({ ...now, files: [...others, { path, sha256, prompt_sha256, at }] })
  }

  /** Returns false if the file was not trusted. Throws AppError. */
  remove(path: string): boolean {
    const now = this.#read()
    const files = now.files.filter((one) => one.path !== path)
    if (files.length === now.files.length) return false
    this.#write({ ...now, files })
    return true
  }

  directories(): readonly string[] {
    return this.#read().directories
  }

  /** @param path absolute, with links resolved. Throws AppError. */
  addDirectory(path: string): void {
    const now = this.#read()
    if (!now.directories.includes(path)) this.#write({ ...now, directories: [...now.directories, path] })
  }

  directoryOf(conversation: string): string | undefined {
    return this.#read().conversations.get(conversation)?.directory
  }

  setDirectoryOf(conversation: string, directory: string): void {
    this.#choose(conversation, { directory })
  }

  agentOf(conversation: string): ChosenAgent | undefined {
    return this.#read().conversations.get(conversation)?.agent
  }

  /** @param agent undefined: the default agent. Throws AppError. */
  setAgentOf(conversation: string, agent: ChosenAgent | undefined): void {
    const before = this.agentOf(conversation)
    if (!isSameJson(before, agent)) this.#choose(conversation, { agent })
  }

  #choose(conversation: string, change: { readonly [key in keyof ChatChoices]: ChatChoices[key] | undefined }): void {
    const now = this.#read()
    const { directory, agent } = { ...now.conversations.get(conversation), ...change }
    const others = [...now.conversations].filter(([id]) => id !== conversation)
    const chosen: ChatChoices = { ...(directory !== undefined && { directory }), ...(agent && { agent }) }
    const isEmpty = directory === undefined && agent === undefined
    this.#write({ ...now, conversations: new Map(isEmpty ? others : [...others, [conversation, chosen]]) })
  }

  /** Absolute rules that the user typed, and their resolved locations at that time. */
  contextPaths(): ReadonlyMap<string, string> {
    return new Map(this.#read().context.map(({ rule, real }) => [rule, real]))
  }

  addContextPath(rule: string, real: string): void {
    const now = this.#read()
    this.#write({ ...now, context: [...now.context.filter((one) => one.rule !== rule), { rule, real }] })
  }

  #read(): Decisions {
    if (!isOwnedByUser(this.path)) return NO_DECISIONS
    try {
      return decisionsOf(JSON.parse(readRegularFile(this.path).toString()))
    } catch {
      return NO_DECISIONS
    }
  }

  #write({ files, directories, conversations, context }: Decisions): void {
    const last = <T>(all: readonly T[]): readonly T[] => all.slice(-MAX_DECISIONS)
    const json = {
      version: 1,
      files: last(files),
      directories: last(directories),
      conversations: Object.fromEntries(last([...conversations])),
      context: last(context),
    }
    replaceOwnFile(this.path, `${JSON.stringify(json, null, 2)}\n`)
  }
}

/** A file that another user can write is ignored. */
function isOwnedByUser(path: string): boolean {
  const found = statOf(path)
  if (!found?.isFile()) return false
  if (process.platform === 'win32') return true
  return found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

function decisionsOf(json: unknown): Decisions {
  const fields = fieldsOf(json)
  const texts = (value: unknown): readonly string[] => listOf(value).flatMap((one) => stringOf(one) ?? [])
  return {
    files: listOf(fields?.['files']).flatMap(fileOf),
    directories: texts(fields?.['directories']),
    conversations: new Map(
      Object.entries(fieldsOf(fields?.['conversations']) ?? {}).map(([id, chosen]) => [id, choicesOf(chosen)]),
    ),
    context: listOf(fields?.['context']).flatMap((one) => {
      const rule = stringOf(fieldsOf(one)?.['rule'])
      const real = stringOf(fieldsOf(one)?.['real'])
      return rule === undefined || real === undefined ? [] : [{ rule, real }]
    }),
  }
}

function choicesOf(value: unknown): ChatChoices {
  const directory = stringOf(fieldsOf(value)?.['directory'])
  const agent = fieldsOf(fieldsOf(value)?.['agent'])
  const name = stringOf(agent?.['name'])
  const place = agent?.['place']
  return {
    ...(directory !== undefined && { directory }),
    ...(name !== undefined &&
      (place === 'own' || place === 'project') && { agent: { name, place, path: stringOf(agent?.['path']) ?? null } }),
  }
}

function fileOf(value: unknown): readonly TrustedFile[] {
  const fields = fieldsOf(value)
  const path = stringOf(fields?.['path'])
  const sha256 = stringOf(fields?.['sha256'])
  if (path === undefined || sha256 === undefined) return []
  return [
    { path, sha256, prompt_sha256: stringOf(fields?.['prompt_sha256']) ?? null, at: stringOf(fields?.['at']) ?? '' },
  ]
}

interface KnownDirectories {
  readonly home: string
  readonly data: string
}

/** Undefined for a directory that looks like a project. @param path absolute, with links resolved */
export function directoryWarning(path: string, { home, data }: KnownDirectories): ChatDirectoryWarning | undefined {
  const own = realOf(home)
  if (dirname(path) === path) return 'root'
  if (path === own) return 'home'
  if (isBelow(path, own)) return 'above_home'
  if (isBelow(path, realOf(data)) || isBelow(realOf(data), path)) return 'data'
  if (isBelow(own, path) && path.slice(own.length + 1).startsWith('.')) return 'settings'
  return dirname(dirname(path)) === dirname(path) ? 'system' : undefined
}

const isBelow = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

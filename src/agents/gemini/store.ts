/** Where Gemini CLI keeps conversations: its home, the folders of projects, and files that hold the same session. */
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFile, isFolder, listEntries, readHead, statOf } from '../../lib/files/safe-fs.ts'
import { sha256 } from '../../lib/hash.ts'
import { fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import type { FileTest, FolderSearch } from '../../model/folder-search.ts'
import { KEEPS, type Retention } from '../../model/retention.ts'
import type { HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { recognize } from './recognize.ts'

export const AGENT_ID = 'gemini'

export function roots({ home, variables }: HostEnvironment): readonly string[] {
  return [join(nonEmptyStringOf(variables['GEMINI_CLI_HOME']) ?? home, '.gemini')]
}

const LOG_NAME = /\.jsonl?$/i
const SESSION_NAME = /^session-.*-([0-9a-zA-Z]{1,8})\.jsonl?$/
const CHECKPOINT_NAME = /^checkpoint-.*\.json$/

/** In Gemini's home only the folders with conversations; in any other folder every file with its content. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield { agent: AGENT_ID, path: root }
  const paths = isGeminiHome(root) ? [...homeLogs(root)] : await otherLogs(root, search)
  for (const path of withoutCopies(paths)) yield { agent: AGENT_ID, path, root }
}

const isGeminiHome = (root: string): boolean =>
  isFolder(join(root, 'tmp')) &&
  (basename(root) === '.gemini' || isFile(join(root, 'projects.json')) || isFile(join(root, 'settings.json')))

function* homeLogs(root: string): Generator<string> {
  for (const project of listEntries(join(root, 'tmp'))) {
    const folder = join(root, 'tmp', project.name)
    if (!isFolder(folder)) continue
    for (const path of findFilesBelow(join(folder, 'chats'), LOG_NAME))
      if (SESSION_NAME.test(basename(path)) || recognize(readHead(path))) yield path
    for (const { name } of listEntries(folder))
      if ((name === 'logs.json' || CHECKPOINT_NAME.test(name)) && recognize(readHead(join(folder, name))))
        yield join(folder, name)
  }
}

async function otherLogs(root: string, search: FolderSearch | undefined): Promise<readonly string[]> {
  const found: string[] = []
  const test: FileTest = { names: LOG_NAME, accepts: (_, head) => recognize(head()) }
  for await (const path of filesMatching(root, test, search)) found.push(path)
  return found
}

/**
 * A resumed session leaves a second file of the same id in which nothing is said, an older one is written again in the new
 * format, and a project's folder may have been copied. Of these the one with the most remains; another one only
 * where it holds messages that the first does not.
 */
function* withoutCopies(paths: readonly string[]): Generator<string> {
  const bySuffix = new Map<string, string[]>()
  for (const path of paths) {
    const name = basename(path)
    const key = SESSION_NAME.exec(name)?.[1] ?? (CHECKPOINT_NAME.test(name) || name === 'logs.json' ? path : name)
    const same = bySuffix.get(key)
    if (same) same.push(path)
    else bySuffix.set(key, [path])
  }
  for (const same of bySuffix.values()) {
    if (same.length === 1) yield* same.filter((path) => !isStub(path))
    else yield* distinctOf(same.filter((path) => !isStub(path)))
  }
}

const MAX_STUB_BYTES = 65_536

/** A file in which nothing was said: only the header and the context, which is part of a list. */
function isStub(path: string): boolean {
  const found = statOf(path)
  if (found === undefined || found.size > MAX_STUB_BYTES || !path.endsWith('.jsonl')) return false
  const print = `${found.size}:${found.mtimeMs}:${found.ino}`
  const known = stubs.get(path)
  if (known?.print === print) return known.isStub
  const text = textOf(path)
  const isEmpty = text !== undefined && !/"type"\s*:\s*"gemini"/.test(text) && text.split('\n').every(isOfStub)
  stubs.set(path, { print, isStub: isEmpty })
  return isEmpty
}

const isOfStub = (line: string): boolean =>
  /^\s*$/.test(line) || /^\{\s*"(?:sessionId|projectHash|startTime|lastUpdated|kind|\$set)"/.test(line)

/** Small files are looked at once, because a sweep comes by every few seconds. */
const stubs = new Map<string, { readonly print: string; readonly isStub: boolean }>()

function* distinctOf(paths: readonly string[]): Generator<string> {
  const files = paths.map((path) => ({ path, ids: idsIn(path) }))
  files.sort((a, b) => b.ids.size - a.ids.size || Number(b.path > a.path) - Number(b.path < a.path))
  const kept = new Set<string>()
  for (const { path, ids } of files) {
    const isCopy = kept.size > 0 && ids.size > 0 && [...ids].every((id) => kept.has(id))
    for (const id of ids) kept.add(id)
    if (!isCopy) yield path
  }
}

/** Ids of messages and calls, with the session's. */
function idsIn(path: string): ReadonlySet<string> {
  const found = (textOf(path) ?? '').matchAll(/"(?:id|sessionId)"\s*:\s*"((?:[^"\\]|\\.)+)"/g)
  return new Set(Array.from(found, ([, id = '']) => id))
}

function textOf(path: string): string | undefined {
  try {
    return isFile(path) ? readRegularFile(path).toString('utf8') : undefined
  } catch {
    return undefined
  }
}

/** The folder of the project that a conversation belongs to: `tmp/<slug or hash>`. */
export function projectFolderOf(path: string): string | undefined {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (basename(dirname(folder)) === 'tmp') return folder
  return undefined
}

/** The directory of a project, by the file in its folder or the list of all projects. */
export function directoryOf(path: string, projectHash: string | undefined): string | undefined {
  const folder = projectFolderOf(path)
  if (folder === undefined) return undefined
  const own = textOf(join(folder, '.project_root'))?.trim()
  if (own) return own
  const slug = basename(folder)
  for (const [directory, name] of Object.entries(knownProjects(dirname(dirname(folder)))))
    if (name === slug || sha256(directory) === slug || sha256(directory) === projectHash) return directory
  return undefined
}

/** Slugs by directory. */
export function knownProjects(home: string): Readonly<Record<string, unknown>> {
  const list = parseStructure(textOf(join(home, 'projects.json')) ?? '')
  return fieldsOf(fieldsOf(list)?.['projects']) ?? {}
}

/** Tool output that was too long for the conversation. */
export function* sideFiles({ path }: Source): Generator<string> {
  const folder = projectFolderOf(path)
  const suffix = SESSION_NAME.exec(basename(path))?.[1]
  if (folder === undefined || suffix === undefined) return
  const outputs = join(folder, 'tool-outputs')
  for (const { name } of listEntries(outputs))
    if (name.startsWith(`session-${suffix}`)) yield* findFilesBelow(join(outputs, name), /./)
}

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 }

/** On by default: sessions older than 30 days are deleted when the program starts. */
export function retention(environment: HostEnvironment): Retention {
  const file = join(roots(environment)[0] ?? '', 'settings.json')
  const settings = fieldsOf(parseStructure(textOf(file) ?? ''))
  const chosen = fieldsOf(fieldsOf(settings?.['general'])?.['sessionRetention'])
  if (chosen?.['enabled'] === false) return KEEPS
  const [, amount, unit = ''] = /^(\d+)([hdwm])$/.exec(nonEmptyStringOf(chosen?.['maxAge']) ?? '30d') ?? []
  const days = Number(amount) * (DAYS[unit] ?? 1)
  const setting = `${file}: general.sessionRetention`
  return Number.isFinite(days) ? { kind: 'deletes', days, setting } : { kind: 'deletes', setting }
}

/** Finds Codex logs below a folder, and a thread's log by the thread's id. */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Environment, Source } from '../agent.ts'
import { recognise } from './recognise.ts'

export const AGENT_ID = 'codex'

const LOG = /\.(?:jsonl|json)(?:\.zst)?$/i
const NAMES = 'session_index.jsonl'
/** The name that Codex itself gives: no look inside is needed. */
const ROLLOUT = /^rollout-\d{4}-.*\.jsonl$/
const HEAD = 65_536

export function roots(environment: Environment): readonly string[] {
  const configured = environment.variables['CODEX_HOME']
  return [configured !== undefined && configured !== '' ? configured : join(environment.home, '.codex')]
}

/** In Codex's own home only the places where it keeps logs; in any other folder every file of a likely name. */
export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) {
    yield sourceAt(root)
    return
  }
  if (!isCodexHome(root)) {
    yield* walk(root, root)
    return
  }
  for (const folder of ['sessions', 'archived_sessions']) yield* walk(join(root, folder), root)
  for (const file of ['history.jsonl', NAMES])
    if (isFile(join(root, file))) yield { agent: AGENT_ID, path: join(root, file), root }
}

/** A file given by its path; related files are looked for beside it. */
export function sourceAt(path: string): Source {
  return { agent: AGENT_ID, path, root: homeOf(path) }
}

const isCodexHome = (root: string): boolean =>
  isFolder(join(root, 'sessions')) &&
  (isFile(join(root, 'history.jsonl')) || isFile(join(root, 'config.toml')) || basename(root) === '.codex')

/** Links to folders are not followed: they would make the walk endless or count a log twice. */
async function* walk(folder: string, root: string): AsyncGenerator<Source> {
  const names: string[] = []
  const folders: string[] = []
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) folders.push(entry.name)
      else if (LOG.test(entry.name) && (entry.isFile() || isFile(join(folder, entry.name)))) names.push(entry.name)
    }
  } catch {
    // Whoever reads it is told why: a folder that cannot be opened must not vanish without a word.
    if (isFolder(folder)) yield { agent: AGENT_ID, path: folder, root }
    return
  }
  for (const name of names.sort()) {
    const path = join(folder, name)
    if (ROLLOUT.test(name) || recognise(headOf(path), path)) yield { agent: AGENT_ID, path, root }
  }
  for (const name of folders.sort())
    if (name !== 'node_modules' && name !== '.git') yield* walk(join(folder, name), root)
}

/** The folder that holds `sessions` or `archived_sessions`, else the file's own. */
function homeOf(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const name = basename(folder)
    if (name === 'sessions' || name === 'archived_sessions') return dirname(folder)
    if (folder === dirname(folder)) return dirname(path)
  }
}

const THREAD = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:_[0-9a-f-]{36})?\.jsonl$/i

/** Logs by the thread id in their name; read once per folder and process. */
const threads = new Map<string, ReadonlyMap<string, string>>()

export function logOfThread(root: string, thread: string): string | undefined {
  let known = threads.get(root)
  if (!known?.has(thread)) {
    known = listThreads(root)
    threads.set(root, known)
  }
  return known.get(thread)
}

function listThreads(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (folder: string): void => {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      const thread = THREAD.exec(entry.name)?.[1]
      if (thread !== undefined && !found.has(thread.toLowerCase())) found.set(thread.toLowerCase(), path)
    }
  }
  visit(root)
  return found
}

function headOf(path: string): Uint8Array {
  const head = Buffer.alloc(HEAD)
  try {
    const fd = openSync(path, 'r')
    try {
      return head.subarray(0, readSync(fd, head, 0, HEAD, 0))
    } finally {
      closeSync(fd)
    }
  } catch {
    return head.subarray(0, 0)
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

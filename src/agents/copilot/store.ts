/** Where Copilot CLI keeps conversations, and the name that a session has there. */
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFile, isFolder, listEntries, readHead } from '../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { beginsWithRecord, headText } from '../kit/source-file.ts'
import { looksLikeHistory } from './history.ts'
import { isEvent } from './record.ts'

export const AGENT_ID = 'copilot'

export const roots = ({ home, variables }: HostEnvironment): readonly string[] => [
  nonEmptyStringOf(variables['COPILOT_HOME']) ?? join(home, '.copilot'),
]

const LOG_NAME = /\.jsonl?$/i
const EVENTS = 'events.jsonl'

/** In Copilot's home only the folders with conversations; in any other folder every file with its content. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield { agent: AGENT_ID, path: root }
  const folders = ['session-state', 'history-session-state'].map((name) => join(root, name)).filter(isFolder)
  if (folders.length > 0) {
    for (const path of homeLogs(root)) if (recognize(readHead(path))) yield { agent: AGENT_ID, path, root }
    return
  }
  const isLog = (_: string, head: () => Uint8Array): boolean => recognize(head())
  for await (const path of filesMatching(root, { names: LOG_NAME, accepts: isLog }, search))
    yield { agent: AGENT_ID, path, root }
}

/** A session has a folder; before version 1.0 it was a file, which a later version may have moved into a folder. */
function* homeLogs(root: string): Generator<string> {
  const sessions = join(root, 'session-state')
  const seen = new Set<string>()
  const entries = listEntries(sessions)
  for (const { name } of entries) {
    const path = join(sessions, name, EVENTS)
    if (!isFile(path)) continue
    seen.add(name)
    yield path
  }
  for (const { name } of entries)
    if (/\.jsonl$/i.test(name) && !seen.has(name.slice(0, -'.jsonl'.length))) yield join(sessions, name)
  for (const { name } of listEntries(join(root, 'history-session-state')))
    if (/\.json$/i.test(name) && !seen.has(idInHistoryName(name))) yield join(root, 'history-session-state', name)
}

const idInHistoryName = (name: string): string => /^session_([^_]+)_/.exec(name)?.[1] ?? ''

/** For a first line that is longer than the head. */
const OPENING = /^\{"type":"(?:session|user|assistant|system|tool|hook)\.[a-z_]+","data":\{/

export const recognize = (head: Uint8Array): boolean =>
  looksLikeHistory(headText(head)) || beginsWithRecord(head, /"parentId"/, OPENING, isEvent)

export function describe(head: Uint8Array): FileDescription | undefined {
  if (looksLikeHistory(headText(head)))
    return {
      format: 'history of the first versions',
      why: phrase('sessionId and chatMessages', 'sessionId と chatMessages'),
    }
  return recognize(head)
    ? { format: 'session', why: phrase('lines with type, data and parentId', 'type・data・parentId を持つ行') }
    : undefined
}

/** The file in which Copilot CLI keeps the name of a session. */
export const WORKSPACE_FILE = 'workspace.yaml'

/** The name of the session whose events are in this file. */
export function nameOf(path: string): string | undefined {
  if (basename(path) !== EVENTS) return undefined
  const file = join(dirname(path), WORKSPACE_FILE)
  try {
    const text = isFile(file) ? readRegularFile(file).toString('utf8') : ''
    return yamlText(text, 'name') ?? yamlText(text, 'summary')
  } catch {
    return undefined
  }
}

/** The text of a key: plain, quoted, or the first line of a block. */
function yamlText(text: string, key: string): string | undefined {
  const found = new RegExp(`^${key}:[ \\t]*(.*)(?:\\r?\\n[ \\t]+(.*))?`, 'm').exec(text)
  const own = found?.[1]?.trim() ?? ''
  const value = /^[|>][-+]?$/.test(own) ? (found?.[2]?.trim() ?? '') : own
  if (/^'.*'$/.test(value)) return nonEmptyStringOf(value.slice(1, -1).replaceAll("''", "'"))
  if (/^".*"$/.test(value)) return nonEmptyStringOf(parsedText(value))
  return value === 'null' || value === '~' ? undefined : nonEmptyStringOf(value)
}

function parsedText(quoted: string): unknown {
  try {
    return JSON.parse(quoted)
  } catch {
    return quoted.slice(1, -1)
  }
}

const NOT_BACKED_UP =
  /(?:^|[\\/])(?:events\.jsonl|[^\\/]*\.lock|[^\\/]*\.db(?:-wal|-shm)?)$|[\\/]rewind-file-snapshots[\\/]/

/** Its name, plan, summaries and the files that it made. */
export function* sideFiles({ path }: Source): Generator<string> {
  if (basename(path) !== EVENTS) return
  for (const file of findFilesBelow(dirname(path), /./)) if (!NOT_BACKED_UP.test(file)) yield file
}

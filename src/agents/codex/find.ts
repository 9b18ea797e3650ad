/** Finds Codex logs below a folder, and a thread's log by the thread's id. */
import { basename, dirname, join } from 'node:path'
import { findFilesBelow, isFile, isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import type { FileTest, FolderSearch } from '../../model/folder-search.ts'
import { UUID_PATTERN } from '../../model/ids.ts'
import type { HostEnvironment, Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { recognize } from './recognize.ts'

export const AGENT_ID = 'codex'

const LOG_NAME = /\.(?:jsonl|json)(?:\.zst)?$/i
export const SESSION_NAMES_FILE = 'session_index.jsonl'
/** Codex's own file name: no need to read the file. */
const ROLLOUT_NAME = /(?:^|[\\/])rollout-\d{4}-[^\\/]*\.jsonl$/

export function roots(environment: HostEnvironment): readonly string[] {
  const configured = environment.variables['CODEX_HOME']
  return [configured !== undefined && configured !== '' ? configured : join(environment.home, '.codex')]
}

/** In a Codex home only the folders with logs; in any other folder every file with a likely name. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) {
    yield { agent: AGENT_ID, path: root }
    return
  }
  if (!isCodexHome(root)) {
    yield* logsBelow(root, root, search)
    return
  }
  for (const folder of ['sessions', 'archived_sessions']) yield* logsBelow(join(root, folder), root)
  for (const file of ['history.jsonl', SESSION_NAMES_FILE])
    if (isFile(join(root, file))) yield { agent: AGENT_ID, path: join(root, file), root }
}

const isCodexHome = (root: string): boolean =>
  isFolder(join(root, 'sessions')) &&
  (isFile(join(root, 'history.jsonl')) || isFile(join(root, 'config.toml')) || basename(root) === '.codex')

async function* logsBelow(folder: string, root: string, search?: FolderSearch): AsyncGenerator<Source> {
  const unreadableFolders: string[] = []
  const test: FileTest = {
    names: LOG_NAME,
    accepts: (path, head) => ROLLOUT_NAME.test(path) || recognize(head(), path),
    onUnreadable: (one) => unreadableFolders.push(one),
  }
  for await (const path of filesMatching(folder, test, search)) yield { agent: AGENT_ID, path, root }
  // Reading such a source reports why the folder cannot be opened.
  for (const path of unreadableFolders) yield { agent: AGENT_ID, path, root }
}

const THREAD_LOG_NAME = new RegExp(`(${UUID_PATTERN})(?:_[0-9a-f-]{36})?\\.jsonl$`, 'i')

/** The log of a thread, or the one that it was continued in after a revert. */
const ROLLOUT_LOG_NAME = new RegExp(`(${UUID_PATTERN})\\.jsonl(?:\\.zst)?$`, 'i')

interface ThreadListing {
  /** By the thread id in their name. */
  readonly logs: ReadonlyMap<string, string>
  /** By the last id in their name, which one file has. */
  readonly rollouts: ReadonlyMap<string, string>
  /** Milliseconds. */
  readonly at: number
}

/** Per folder. Listed again when a log has moved, and after a while when it is missing. */
const listings = new Map<string, ThreadListing>()
const MISSING_LISTING_MS = 2000

/**
 * Another log of the same store: below the source's root, else in its Codex home, else in its folder. A log that was just
 * written may be missed unless `mustBeCurrent` is set.
 */
export function findThreadLog(source: Source, thread: string, mustBeCurrent = false): string | undefined {
  return findLog(source, ({ logs }) => logs.get(thread), mustBeCurrent)
}

/** The lines before an ordinal in the log whose name ends with an id. */
export interface HistoryBase {
  readonly rollout: string
  readonly end: number
}

/** @param value `history_base` of a header: where the beginning of its conversation is */
export function historyBaseOf(value: unknown): HistoryBase | undefined {
  const base = fieldsOf(value)
  const rollout = nonEmptyStringOf(base?.['thread_id'])
  const end = validCountOf(base?.['end_ordinal_exclusive'])
  return rollout === undefined || end === undefined ? undefined : { rollout, end }
}

/** The log whose name ends with the id. Reverting a thread begins another log of it. */
export const findRolloutLog = (source: Source, rollout: string): string | undefined =>
  findLog(source, ({ rollouts }) => rollouts.get(rollout.toLowerCase()))

function findLog(
  source: Source,
  pick: (listing: ThreadListing) => string | undefined,
  mustBeCurrent = false,
): string | undefined {
  const home = source.root ?? codexHomeOf(source.path)
  const folder = home ?? dirname(source.path)
  const known = listings.get(folder)
  const log = known && pick(known)
  if (log !== undefined && isFile(log)) return log
  if (known && log === undefined && !mustBeCurrent && performance.now() - known.at < MISSING_LISTING_MS)
    return undefined
  const listing = listThreads(folder, home !== undefined)
  listings.set(folder, listing)
  return pick(listing)
}

/** The parent of the `sessions` or `archived_sessions` folder that contains the file. */
function codexHomeOf(path: string): string | undefined {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const name = basename(folder)
    if (name === 'sessions' || name === 'archived_sessions') return dirname(folder)
  }
  return undefined
}

function listThreads(root: string, deep: boolean): ThreadListing {
  const logs = new Map<string, string>()
  const rollouts = new Map<string, string>()
  const stores = [join(root, 'sessions'), join(root, 'archived_sessions')].filter(isFolder)
  for (const folder of stores.length > 0 ? stores : [root]) {
    const paths = deep
      ? findFilesBelow(folder, ROLLOUT_LOG_NAME)
      : listEntries(folder).map(({ name }) => join(folder, name))
    for (const path of paths) {
      const thread = THREAD_LOG_NAME.exec(path)?.[1]?.toLowerCase()
      if (thread !== undefined && !logs.has(thread)) logs.set(thread, path)
      const rollout = ROLLOUT_LOG_NAME.exec(path)?.[1]?.toLowerCase()
      if (rollout !== undefined && !rollouts.has(rollout)) rollouts.set(rollout, path)
    }
  }
  return { logs, rollouts, at: performance.now() }
}

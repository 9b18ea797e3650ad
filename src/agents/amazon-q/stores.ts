/** Locations of the Amazon Q and Kiro databases, and opening them. */
import { basename, dirname, join, posix, win32 } from 'node:path'
import { type DatabaseOutcome, type DatabaseProblem, databaseFingerprint } from '../../lib/sqlite/database-file.ts'
import { type ForeignDatabase, openForeignDatabase } from '../../lib/sqlite/foreign-database.ts'
import type { AgentId } from '../../model/ids.ts'
import type { HostEnvironment } from '../agent.ts'
import { type ConversationTable, type ListedRow, listRows, listTables } from './tables.ts'

export const AMAZON_Q: AgentId = 'amazon-q'
export const KIRO: AgentId = 'kiro'
export const DATABASE_NAME = 'data.sqlite3'
export const HISTORY_FILE = '.cli_bash_history'

export function roots({ platform, home, variables }: HostEnvironment): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  return [
    ...storePaths({ platform, home, variables }),
    join(home, '.aws', 'amazonq', HISTORY_FILE),
    join(home, '.kiro', HISTORY_FILE),
  ]
}

/** Kiro CLI 2 keeps its conversations as files. */
export const unreadRoots = ({ home, variables }: HostEnvironment): readonly string[] => [
  join(variables['KIRO_HOME'] || join(home, '.kiro'), 'sessions'),
]

/** Kiro's folders are `kiro-cli` and `.kiro`. */
export const rootOwner = (root: string): AgentId =>
  root.split(/[\\/]/).some((folder) => folder === 'kiro-cli' || folder === '.kiro') ? KIRO : AMAZON_Q

export function storePaths({ platform, home, variables }: HostEnvironment): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  const data = dataFolder(platform, home, variables)
  return [join(data, 'amazon-q', DATABASE_NAME), join(data, 'kiro-cli', DATABASE_NAME)]
}

/** The store of the agent with this id. */
export function storePathOf(agent: AgentId, environment: HostEnvironment): string {
  const [amazonQ = '', kiro = ''] = storePaths(environment)
  return agent === KIRO ? kiro : amazonQ
}

function dataFolder(platform: NodeJS.Platform, home: string, variables: HostEnvironment['variables']): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support')
  if (platform === 'win32') return variables['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local')
  return variables['XDG_DATA_HOME'] || posix.join(home, '.local', 'share')
}

/** Decides by the folder, otherwise by fields that only Kiro writes. */
export function agentOfStore(path: string, isKiro: () => boolean): AgentId {
  const folder = basename(dirname(path)).toLowerCase()
  if (folder.includes('kiro')) return KIRO
  if (/amazon-?q/.test(folder)) return AMAZON_Q
  return isKiro() ? KIRO : AMAZON_Q
}

interface OpenStore {
  readonly database: ForeignDatabase
  readonly fingerprint: string | undefined
  timer: NodeJS.Timeout
}

const openStores = new Map<string, OpenStore>()
const IDLE_CLOSE_MS = 300

/** Stores recently found locked. The next steps of the same operation wait for them only briefly. */
const lockedStores = new Map<string, LockedStore>()
const LOCK_MEMORY_MS = 500
const RETRY_BUSY_MS = 20

interface LockedStore {
  readonly fingerprint: string | undefined
  readonly at: number
}

/** `work` is synchronous, and no statement outlives it. It sees the state after this call. */
export function withStore<T>(
  path: string,
  work: (database: ForeignDatabase) => DatabaseOutcome<T>,
): DatabaseOutcome<T> {
  const fingerprint = databaseFingerprint(path)
  const known = openStores.get(path)
  // A copy is a snapshot, and a replaced file stays open under its old inode: both must be opened again.
  if (known && known.fingerprint === fingerprint) {
    known.timer.refresh()
    return work(known.database)
  }
  closeStore(path)
  const refused = lockedStores.get(path)
  const wasLocked = refused?.fingerprint === fingerprint && performance.now() - (refused?.at ?? 0) < LOCK_MEMORY_MS
  lockedStores.delete(path)
  const opened = openForeignDatabase(path, wasLocked ? { busyMs: RETRY_BUSY_MS } : {})
  if (!opened.ok) {
    if (opened.problem.kind === 'busy') lockedStores.set(path, { fingerprint, at: performance.now() })
    return opened
  }
  const timer = setTimeout(() => closeStore(path), IDLE_CLOSE_MS).unref()
  openStores.set(path, { database: opened.value, fingerprint, timer })
  return work(opened.value)
}

function closeStore(path: string): void {
  const store = openStores.get(path)
  if (!store) return
  openStores.delete(path)
  clearTimeout(store.timer)
  store.database.close()
}

/** Decides by the name: opening and closing the file would drop the locks of a read in progress. */
export const isDatabasePath = (path: string): boolean => /\.sqlite3?$/i.test(path)

interface ListedStore {
  readonly rows: readonly ListedRow[]
  readonly tables: readonly ConversationTable[]
}

export const listStore = (path: string): DatabaseOutcome<ListedStore> =>
  withStore(path, (database) => {
    const tables = listTables(database)
    if (!tables.ok) return tables
    const rows: ListedRow[] = []
    for (const table of tables.value) {
      const found = listRows(database, table)
      if (!found.ok) return found
      rows.push(...found.value)
    }
    return { ok: true, value: { rows, tables: tables.value } }
  })

/** Why the rows of a store cannot be listed; undefined if they can. */
export function storeProblem(path: string): DatabaseProblem | undefined {
  const listed = listStore(path)
  return listed.ok ? undefined : listed.problem
}

/** Locations of the Amazon Q and Kiro databases, and opening them. */
import { basename, dirname, posix, win32 } from 'node:path'
import type { DatabaseOutcome, DatabaseProblem } from '../../lib/sqlite/database-file.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import type { AgentId } from '../../model/ids.ts'
import type { HostEnvironment } from '../agent.ts'
import { withStore } from '../kit/open-store.ts'
import { type ConversationTable, type ListedRow, listRows, listTables } from './tables.ts'

export const AMAZON_Q: AgentId = 'amazon-q'
export const KIRO: AgentId = 'kiro'
export const DATABASE_NAME = 'data.sqlite3'
export const HISTORY_FILE = '.cli_bash_history'

export function roots({ platform, home, variables }: HostEnvironment): readonly string[] {
  const { join } = platform === 'win32' ? win32 : posix
  const sessions = join(nonEmptyStringOf(variables['KIRO_HOME']) ?? join(home, '.kiro'), 'sessions')
  const stores = storePaths({ platform, home, variables })
  for (const store of stores) if (rootOwner(store) === KIRO) sessionsByStore.set(store, sessions)
  return [...stores, sessions, join(home, '.aws', 'amazonq', HISTORY_FILE), join(home, '.kiro', HISTORY_FILE)]
}

/** The folder in which the program of a store keeps sessions as files: Kiro wrote some of them to both. */
const sessionsByStore = new Map<string, string>()

export const sessionsOf = (store: string): string | undefined => sessionsByStore.get(store)

/** Kiro's folders are `kiro-cli` and `.kiro`. */
export const rootOwner = (root: string): AgentId =>
  root.split(/[\\/]/).some((folder) => folder === 'kiro-cli' || folder === '.kiro') || basename(root) === 'sessions'
    ? KIRO
    : AMAZON_Q

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

/** Finds conversations: the rows of a store, saved files, the prompt history. */
import { basename } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder, readHead, statOf } from '../../lib/files/safe-fs.ts'
import { isSqliteFile } from '../../lib/sqlite/header.ts'
import type { Source } from '../agent.ts'
import { isHistoryFile } from './prompt-history.ts'
import { isKiroState, recognize } from './recognize.ts'
import { listTables } from './store/conversation-tables.ts'
import { isDatabasePath, listStore } from './store/list-store.ts'
import { withStore } from './store/open-stores.ts'
import { formatRowKey, MAX_ROW_BYTES } from './store/row-key.ts'
import { agentOfStore, DATABASE_NAME } from './store/store-paths.ts'

const CANDIDATE_NAMES = /\.(?:sqlite3?|db|json)$|^\.cli_bash_history$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield* sourcesIn(root)
  else
    for (const path of findFilesBelow(root, CANDIDATE_NAMES))
      if (isAmazonQFile(path)) for (const source of sourcesIn(path)) yield { ...source, root }
}

function isAmazonQFile(path: string): boolean {
  if (!isDatabasePath(path)) return recognize(readHead(path), path)
  const tables = withStore(path, listTables)
  if (tables.ok) return tables.value.length > 0
  // A store that cannot be opened is ours by its name. Any other database may belong to anybody.
  return basename(path) === DATABASE_NAME && tables.problem.kind !== 'empty'
}

function sourcesIn(path: string): readonly Source[] {
  if (isDatabasePath(path)) return rowSources(path)
  const head = readHead(path)
  if (isSqliteFile(head)) return rowSources(path)
  if (isHistoryFile(head, path)) return [{ agent: agentOfStore(path, () => false), path }]
  return [
    {
      agent: agentOfStore(path, () => (statOf(path)?.size ?? 0) <= MAX_ROW_BYTES && isKiroState(readRegularFile(path))),
      path,
    },
  ]
}

/** A store that cannot be listed is a source too: whoever reads it is told why. */
function rowSources(path: string): readonly Source[] {
  const listed = listStore(path)
  if (!listed.ok) return [{ agent: agentOfStore(path, () => false), path }]
  const { rows, tables } = listed.value
  const agent = agentOfStore(path, () => tables.includes('conversations_v2'))
  return rows.map(({ key, fingerprint, size }) => ({ agent, path, key: formatRowKey(key), fingerprint, size }))
}

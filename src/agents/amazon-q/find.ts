/** Finds conversations: the rows of a store, saved files, the prompt history. */
import { basename } from 'node:path'
import { filesBelow, headOf, isFolder, statOf } from '../../lib/files/look.ts'
import { readRegular } from '../../lib/files/regular-file.ts'
import { isSqliteFile } from '../../lib/sqlite/header.ts'
import type { Source } from '../agent.ts'
import { isHistoryFile } from './prompts.ts'
import { isKirosState, recognise } from './recognise.ts'
import { keyText, LONGEST_ROW } from './store/key.ts'
import { isDatabase, listStore } from './store/list-store.ts'
import { withStore } from './store/open-stores.ts'
import { agentOf, DATABASE } from './store/stores.ts'
import { tablesIn } from './store/table.ts'

const LIKELY = /\.(?:sqlite3?|db|json)$|^\.cli_bash_history$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield* sourcesIn(root)
  else
    for (const path of filesBelow(root, LIKELY))
      if (isOurs(path)) for (const source of sourcesIn(path)) yield { ...source, root }
}

function isOurs(path: string): boolean {
  if (!isDatabase(path)) return recognise(headOf(path), path)
  const tables = withStore(path, tablesIn)
  if (tables.ok) return tables.value.length > 0
  // A store that cannot be opened is ours by its name. Any other database may belong to anybody.
  return basename(path) === DATABASE && tables.problem.kind !== 'empty'
}

function sourcesIn(path: string): readonly Source[] {
  if (isDatabase(path)) return rowSources(path)
  const head = headOf(path)
  if (isSqliteFile(head)) return rowSources(path)
  if (isHistoryFile(head, path)) return [{ agent: agentOf(path, () => false), path }]
  return [
    { agent: agentOf(path, () => (statOf(path)?.size ?? 0) <= LONGEST_ROW && isKirosState(readRegular(path))), path },
  ]
}

/** A store that cannot be listed is a source too: whoever reads it is told why. */
function rowSources(path: string): readonly Source[] {
  const listed = listStore(path)
  if (!listed.ok) return [{ agent: agentOf(path, () => false), path }]
  const { rows, tables } = listed.value
  const agent = agentOf(path, () => tables.includes('conversations_v2'))
  return rows.map(({ key, fingerprint, size }) => ({ agent, path, key: keyText(key), fingerprint, size }))
}

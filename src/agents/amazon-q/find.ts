/** Finds conversations: the rows of a store, saved files, the prompt history. */
import { readFileSync } from 'node:fs'
import { filesBelow, headOf, isFolder } from '../../lib/files/look.ts'
import { isSqliteFile } from '../../lib/sqlite/header.ts'
import type { Source } from '../agent.ts'
import { isHistoryFile } from './prompts.ts'
import { isKirosState, recognise } from './recognise.ts'
import { keyText } from './store/key.ts'
import { withStore } from './store/open-stores.ts'
import { agentOf } from './store/stores.ts'
import { type Listed, rowsIn, tablesIn } from './store/table.ts'

const LIKELY = /\.(?:sqlite3?|db|json)$|^\.cli_bash_history$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield* sourcesIn(root)
  else
    for (const path of filesBelow(root, LIKELY))
      if (isOurs(path)) for (const source of sourcesIn(path)) yield { ...source, root }
}

/** By its name where it has one of a database: opening and closing the file would drop the locks of a reading that is under way. */
const isDatabase = (path: string): boolean => /\.sqlite3?$/i.test(path)

function isOurs(path: string): boolean {
  if (!isDatabase(path)) return recognise(headOf(path), path)
  const tables = withStore(path, tablesIn)
  return tables.ok ? tables.value.length > 0 : false
}

function sourcesIn(path: string): readonly Source[] {
  if (isDatabase(path)) return rowSources(path)
  const head = headOf(path)
  if (isSqliteFile(head)) return rowSources(path)
  if (isHistoryFile(head, path)) return [{ agent: agentOf(path, () => false), path }]
  return [{ agent: agentOf(path, () => isKirosState(readFileSync(path))), path }]
}

/** A store that cannot be listed is a source too: whoever reads it is told why. */
function rowSources(path: string): readonly Source[] {
  const listed = withStore(path, (database) => {
    const tables = tablesIn(database)
    if (!tables.ok) return tables
    const rows: Listed[] = []
    for (const table of tables.value) {
      const found = rowsIn(database, table)
      if (!found.ok) return found
      rows.push(...found.value)
    }
    return { ok: true, value: { rows, tables: tables.value } }
  })
  if (!listed.ok) return [{ agent: agentOf(path, () => false), path }]
  const { rows, tables } = listed.value
  const agent = agentOf(path, () => tables.includes('conversations_v2'))
  return rows.map(({ key, fingerprint, size }) => ({ agent, path, key: keyText(key), fingerprint, size }))
}

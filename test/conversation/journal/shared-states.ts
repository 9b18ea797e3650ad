/** Shared conversation states: vectors, recorded operations, sample databases, saved files. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readState } from '../../../src/conversation/codec/state.ts'
import type { ConversationState } from '../../../src/conversation/state.ts'
import { openSqlite } from '../../../src/lib/sqlite/driver.ts'
import { sharedFolder } from '../../support/shared-material.ts'

export interface SharedState {
  readonly name: string
  /** Unchanged text of the file. */
  readonly text: string
  readonly state: ConversationState
}

const VECTORS = [
  ['vectors', 'amazon-q'],
  ['vectors', 'amazon-q-examples'],
]
const CORPUS = [
  ['corpus', 'amazon-q'],
  ['corpus', 'kiro'],
]

export const sharedStates = (): readonly SharedState[] => statesIn([...VECTORS, ...CORPUS])

/** Only states that were made for tests. */
export const vectorStates = (): readonly SharedState[] => statesIn(VECTORS)

function statesIn(folders: readonly (readonly string[])[]): readonly SharedState[] {
  return folders.flatMap((path) => {
    const folder = sharedFolder(...path)
    return folder === undefined ? [] : statesBelow(folder)
  })
}

function statesBelow(folder: string): readonly SharedState[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .flatMap((name) => {
      if (name.endsWith('.sqlite3'))
        return rowsOf(join(folder, name)).flatMap((row, at) => stateIn(`${name} ${at}`, row))
      if (!name.endsWith('.json')) return []
      const text = readFileSync(join(folder, name), 'utf8')
      const complete = stateIn(name, text)
      return complete.length > 0 ? complete : inside(JSON.parse(text), name)
    })
}

function rowsOf(path: string): readonly string[] {
  const db = openSqlite(path, { readonly: true })
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'conversations%' AND type = 'table'").all()
  const rows = (tables as { name: string }[]).flatMap(({ name }) => db.prepare(`SELECT value FROM ${name}`).all())
  db.close()
  return (rows as { value: string }[]).map(({ value }) => value)
}

function stateIn(name: string, text: string): readonly SharedState[] {
  if (!/^\s*\{/.test(text) || !text.includes('"history"')) return []
  const read = readState(text)
  return read.ok ? [{ name, text, state: read.value }] : []
}

/** States inside other values, as values or as texts. */
function inside(value: unknown, name: string): readonly SharedState[] {
  if (typeof value === 'string') return stateIn(name, value)
  if (typeof value !== 'object' || value === null) return []
  if ('conversation_id' in value && 'history' in value) return stateIn(name, JSON.stringify(value))
  return Object.entries(value).flatMap(([key, one]) => inside(one, `${name} ${key}`))
}

/** Logs of every agent with one hostile value, for every number, time and size in every fixture. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Agent } from '../../src/agents/agent.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { folderOf, GOLDEN } from '../support/fixtures.ts'
import { random } from '../support/seeded-random.ts'

export interface NumberCase {
  readonly agent: Agent
  /** Fixture, field and value, shown by a failing test. */
  readonly name: string
  /** Unique among all cases, with the fixture's extension. */
  readonly file: string
  write(path: string): void
}

/** In JSON spelling. */
const VALUES = [
  '1.5',
  '1e300',
  '9223372036854775808',
  '-9223372036854775809',
  '-1',
  '"NaN"',
  '"Infinity"',
  '"1e999"',
  '1e400',
  '-1e400',
  '"+300000-01-01T00:00:00Z"',
  '"0000-01-01T00:00:00.000Z"',
  '"9999-12-31T23:59:59.999Z"',
  '"2026-02-30T25:61:61Z"',
  '1e15',
  '1e16',
  '9007199254740991',
  '""',
  '[]',
  '{}',
  'null',
  'true',
  '"12"',
  `1${'0'.repeat(400)}`,
  `"${'9'.repeat(400)}"`,
  '-0',
  '1e-320',
  '0.1',
] as const

/** The first values are invalid for every number and time. */
const HARMFUL = 12

const MARKER = '@@hostile@@'

export type Path = readonly (string | number)[]

/** A number, a time, or a text that contains one. */
interface Spot {
  readonly path: Path
  /** Returns a replacement for the value, with a marker for the hostile one. */
  readonly put: (value: unknown) => unknown
}

const DATE = /^[+-]?\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d/
const SEARCHABLE_NUMBER = /((?:Wall time:? |Exit code: |exited with code |aborted by user after ))-?\d+(?:\.\d+)?/

function* spotsIn(value: unknown, path: Path = []): Generator<Spot> {
  if (typeof value === 'number') yield { path, put: () => MARKER }
  else if (typeof value === 'string') {
    if (DATE.test(value) || /^-?\d+(?:\.\d+)?m?s?$/.test(value)) yield { path, put: () => MARKER }
    else if (SEARCHABLE_NUMBER.test(value))
      yield { path, put: (text) => String(text).replace(SEARCHABLE_NUMBER, `$1${MARKER}`) }
    const inner = /^[[{]/.test(value) ? parsed(value) : undefined
    if (inner !== undefined)
      for (const spot of spotsIn(inner))
        yield { path, put: (text) => JSON.stringify(changed(JSON.parse(String(text)), spot)) }
  } else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value))
      yield* spotsIn(one, [...path, Array.isArray(value) ? Number(key) : key])
}

export function changed(value: unknown, { path, put }: Spot): unknown {
  const [step, ...rest] = path
  if (step === undefined) return put(value)
  const inside = { path: rest, put }
  if (Array.isArray(value)) return value.with(Number(step), changed(value[Number(step)], inside))
  const fields = value as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(fields).map(([key, one]) => [key, key === step ? changed(one, inside) : one]),
  )
}

/** The marker is between quotes, in a text, or in JSON inside a text. */
function spelt(json: string, value: string): string {
  const bare = value.replaceAll('"', '')
  return json
    .replaceAll(`"${MARKER}"`, value)
    .replaceAll(`\\"${MARKER}\\"`, value.replaceAll('"', '\\"'))
    .replaceAll(MARKER, bare)
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

interface Hostile {
  readonly agent: Agent
  readonly fixture: string
  readonly field: string
  readonly write: (path: string, value: string, unique: string) => void
}

/** Identifiers, changed so that each case is a separate session. */
const IDS =
  /(019[cd][0-9a-f]{4}|7d0e1f00|5b1f0c52|6d2f0a10|c1a0de00|tidepool-legacy|chatcmpl|identity|conv|chat|resp)(?=[-_])/g

const withIds = (text: string, unique: string): string => text.replace(IDS, unique)

function* inText(agent: Agent, fixture: string, text: string): Generator<Hostile> {
  const complete = parsed(text)
  const pieces = complete === undefined || !fixture.endsWith('.json') ? text.split('\n') : [text]
  for (const [at, piece] of pieces.entries()) {
    const value = parsed(piece.replace(/^\uFEFF/, ''))
    for (const spot of value === undefined ? [] : spotsIn(value))
      yield {
        agent,
        fixture,
        field: `${pieces.length > 1 ? `line ${at + 1}: ` : ''}${spot.path.join('.')}`,
        write(path, hostile, unique) {
          const json = spelt(JSON.stringify(changed(value, spot)), hostile)
          writeFileSync(path, withIds(pieces.with(at, json).join('\n'), unique))
        },
      }
  }
}

/** Columns of rows, and numbers in the JSON of rows. */
function* inDatabase(agent: Agent, fixture: string, file: string): Generator<Hostile> {
  const database = openSqlite(file, { readonly: true })
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'conversations%'")
    .pluck()
    .all() as string[]
  const places = tables.flatMap((table) =>
    (database.prepare(`SELECT rowid, * FROM ${table}`).all() as { rowid: number; value: string }[]).map((row) => ({
      table,
      row,
    })),
  )
  database.close()
  const change = (path: string, work: (db: ReturnType<typeof openSqlite>) => void, unique: string): void => {
    writeFileSync(path, readFileSync(file))
    const copy = openSqlite(path)
    work(copy)
    for (const table of tables) {
      copy.exec(`UPDATE ${table} SET value = replace(value, '6d2f0a10', '${unique}')`)
      if (table.endsWith('v2'))
        copy.exec(`UPDATE ${table} SET conversation_id = replace(conversation_id, '6d2f0a10', '${unique}')`)
    }
    copy.close()
  }
  for (const { table, row } of places) {
    for (const column of ['rowid', 'created_at', 'updated_at'].filter((one) => one in row))
      yield {
        agent,
        fixture,
        field: `${table}.${column} of row ${row.rowid}`,
        write: (path, hostile, unique) =>
          change(path, (db) => setColumn(db, table, column, row.rowid, hostile), unique),
      }
    const state = parsed(row.value)
    for (const spot of state === undefined ? [] : spotsIn(state))
      yield {
        agent,
        fixture,
        field: `${table} row ${row.rowid}: ${spot.path.join('.')}`,
        write: (path, hostile, unique) =>
          change(
            path,
            (db) =>
              db
                .prepare(`UPDATE ${table} SET value = ? WHERE rowid = ?`)
                .run(spelt(JSON.stringify(changed(state, spot)), hostile), row.rowid),
            unique,
          ),
      }
  }
}

/** Stores the value as SQLite interprets it. Skips values that a column cannot hold. */
function setColumn(
  db: ReturnType<typeof openSqlite>,
  table: string,
  column: string,
  rowid: number,
  hostile: string,
): void {
  const value = hostile.startsWith('"')
    ? `'${hostile.slice(1, -1)}'`
    : /^[[{t]/.test(hostile)
      ? `'${hostile}'`
      : hostile
  try {
    db.exec(`UPDATE ${table} SET ${column} = ${value} WHERE rowid = ${rowid}`)
  } catch {
    // The column does not allow null, or needs an integer.
  }
}

export function* filesOf(folder: string): Generator<string> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (name === GOLDEN || name.endsWith('.zst')) continue
    if (statSync(path).isDirectory()) yield* filesOf(path)
    else yield path
  }
}

function* everyHostile(agents: readonly Agent[]): Generator<Hostile> {
  for (const agent of agents) {
    const folder = join(folderOf(agent), 'fixtures')
    for (const file of filesOf(folder)) {
      const fixture = file.slice(folder.length + 1)
      if (file.endsWith('.sqlite3')) yield* inDatabase(agent, fixture, file)
      else yield* inText(agent, fixture, readFileSync(file, 'utf8'))
    }
  }
}

/** Fields that are counted, added up or used as times. */
const COUNTED = /tokens|duration|exit_code|timestamp|_at$|_ms$|time$|usage|\bat$|size/

/**
 * Reproducible by the seed: every field once, then random fields. A smaller number takes equally many per agent, and
 * only fields and values known to be harmful.
 */
export function numberCases(agents: readonly Agent[], count: number, seed: number): readonly NumberCase[] {
  const next = random(seed)
  const every = [...everyHostile(agents)]
  const isFew = count < every.length
  const all = isFew ? every.filter(({ field }) => COUNTED.test(field)) : every
  const values = isFew ? VALUES.slice(0, HARMFUL) : VALUES
  const shuffled = all.map((one) => ({ one, key: next() })).sort((a, b) => a.key - b.key)
  const chosen =
    count < all.length
      ? fairly(
          shuffled.map(({ one }) => one),
          agents,
          count,
        )
      : all
  const more = Array.from(
    { length: Math.max(0, count - chosen.length) },
    () => all[Math.floor(next() * all.length)] as Hostile,
  )
  return [...chosen, ...more].map((hostile, at) =>
    caseOf(hostile, values[Math.floor(next() * values.length)] ?? '1.5', at),
  )
}

/** The same number per agent, as far as available. */
function fairly(all: readonly Hostile[], agents: readonly Agent[], count: number): readonly Hostile[] {
  const queues = agents.map((agent) => all.filter((one) => one.agent === agent))
  const chosen: Hostile[] = []
  for (let round = 0; chosen.length < count && round < all.length; round++)
    for (const queue of queues) {
      const one = queue[round]
      if (one && chosen.length < count) chosen.push(one)
    }
  return chosen
}

function caseOf({ agent, fixture, field, write }: Hostile, value: string, at: number): NumberCase {
  const unique = `f${at.toString(16).padStart(7, '0')}`
  const [, ending = ''] = /((?:\.[a-z0-9]+)+)$/.exec(basename(fixture)) ?? []
  return {
    agent,
    name: `${agent.id}/${fixture} ${field} = ${value.length > 40 ? `${value.slice(0, 20)}… (${value.length})` : value}`,
    file: `rollout-2026-02-03T09-15-00-${unique}${ending}`,
    write: (path) => write(path, value, unique),
  }
}

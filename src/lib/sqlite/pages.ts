/** Walks a table in the order of its key, a page at a time, so that no statement stays open while its rows are used. */
import type { Parameter, Row } from './connect.ts'
import type { OpenDatabase } from './open.ts'
import type { Outcome } from './problem.ts'

export interface Walk {
  readonly table: string
  /** Columns that together tell rows apart, with an index. Rows that have null in one of them are not seen. */
  readonly key: readonly string[]
  /** More to read of each row, as SQL, by the name it gets. Only what is small. */
  readonly columns?: { readonly [name: string]: string }
  readonly pageSize?: number
}

const PAGE_SIZE = 100

/** Ends after the first problem. Rows that come, go or change meanwhile may be seen or not, all others exactly once. */
export function* rowsInPages(database: OpenDatabase, walk: Walk): Generator<Outcome<readonly Row[]>, void> {
  const most = walk.pageSize ?? PAGE_SIZE
  let last: Row | undefined
  do {
    const [sql, parameters] = pageAfter(last, walk, most)
    const page = database.all(sql, ...parameters)
    if (!page.ok) return yield page
    last = page.value.length < most ? undefined : page.value.at(-1)
    if (page.value.length > 0) yield { ok: true, value: page.value.map((row) => withoutMarks(row, walk)) }
  } while (last)
}

function pageAfter(last: Row | undefined, { table, key, columns = {} }: Walk, most: number): [string, Parameter[]] {
  const marks = key.flatMap((one, at) => [
    `typeof(${name(one)}) AS ${name(type(at))}`,
    `CAST(${name(one)} AS BLOB) AS ${name(bytes(at))}`,
  ])
  const more = Object.entries(columns).map(([as, sql]) => `${sql} AS ${name(as)}`)
  const present = key.map((one) => `${name(one)} IS NOT NULL`)
  const bounds = last ? key.map((one, at) => boundOf(last, one, at)) : []
  const after = last ? [`(${key.map(name).join()}) > (${bounds.map(([sql]) => sql).join()})`] : []
  const sql = `SELECT ${[...key.map(name), ...marks, ...more].join()} FROM ${name(table)}
    WHERE ${[...present, ...after].join(' AND ')} ORDER BY ${key.map(name).join()} LIMIT ${most}`
  return [sql, bounds.map(([, value]) => value)]
}

/**
 * The key of the row to go on after, to the byte and the digit: a string or number of JavaScript's may differ from it.
 * The plus takes away the affinity that a CAST gives, under which text is compared with a number as if it were one.
 */
function boundOf(last: Row, column: string, at: number): [sql: string, value: Parameter] {
  const exact = last[bytes(at)] ?? null
  switch (last[type(at)]) {
    case 'text':
      return ['+CAST(? AS TEXT)', exact]
    case 'integer':
      return ['+CAST(CAST(? AS TEXT) AS INTEGER)', exact]
    default:
      return ['?', last[column] ?? null]
  }
}

function withoutMarks(row: Row, { key }: Walk): Row {
  const marks = new Set(key.flatMap((_, at) => [type(at), bytes(at)]))
  return Object.fromEntries(Object.entries(row).filter(([column]) => !marks.has(column)))
}

const type = (at: number): string => ` type ${at}`
const bytes = (at: number): string => ` bytes ${at}`
const name = (identifier: string): string => `"${identifier.replaceAll('"', '""')}"`

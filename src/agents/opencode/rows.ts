/** Reads sessions, messages and parts from OpenCode's database, in pages, so that the program never waits. */
import type { DatabaseOutcome } from '../../lib/sqlite/database-file.ts'
import type { ForeignDatabase } from '../../lib/sqlite/foreign-database.ts'
import { type Fields, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { withStore } from '../kit/open-store.ts'
import { joinRecord, withIds } from './record-text.ts'
import type { SessionTexts } from './session-texts.ts'

export interface ListedSession {
  readonly id: string
  /** Changes when the session, one of its messages or one of its parts is written. */
  readonly fingerprint: string
}

/** Whether a database is OpenCode's, by its tables. */
export const hasSessionTables = (path: string): DatabaseOutcome<boolean> =>
  withStore(path, (database) => {
    const found = tablesOf(database)
    return found.ok ? { ok: true, value: TABLES.every((name) => found.value.has(name)) } : found
  })

const TABLES = ['session', 'message', 'part'] as const

function tablesOf(database: ForeignDatabase): DatabaseOutcome<ReadonlySet<unknown>> {
  const found = database.all("SELECT name FROM sqlite_schema WHERE type = 'table'")
  return found.ok ? { ok: true, value: new Set(found.value.map(({ name }) => name)) } : found
}

/** Newer versions number every change of a session. Older ones only note the times of rows. */
const CHANGES = `(SELECT seq FROM event_sequence WHERE aggregate_id = session.id)`
const ROW_TIMES = ['message', 'part']
  .map(
    (table) => `(SELECT count(*) || '-' || coalesce(max(time_updated), 0) FROM ${table} WHERE session_id = session.id)`,
  )
  .join(" || '.' || ")

const fingerprintColumn = (tables: ReadonlySet<unknown>): string =>
  tables.has('event_sequence') ? `coalesce(${CHANGES}, ${ROW_TIMES})` : ROW_TIMES

export const listSessions = (path: string): DatabaseOutcome<readonly ListedSession[]> =>
  withStore(path, (database) => {
    const tables = tablesOf(database)
    if (!tables.ok) return tables
    const print = fingerprintColumn(tables.value)
    const found: ListedSession[] = []
    for (let after = ''; ; ) {
      const page = database.all(
        `SELECT id, time_updated, ${print} AS print FROM session WHERE id > ? ORDER BY id LIMIT ${PAGE_SESSIONS}`,
        after,
      )
      if (!page.ok) return page
      for (const { id, time_updated, print } of page.value)
        if (typeof id === 'string') found.push({ id, fingerprint: `${time_updated}.${print}` })
      after = stringOf(page.value.at(-1)?.['id']) ?? after
      if (page.value.length < PAGE_SESSIONS) return { ok: true, value: found }
    }
  })

const PAGE_SESSIONS = 200

export const sessionFingerprint = (path: string, id: string): DatabaseOutcome<string | undefined> =>
  withStore<string | undefined>(path, (database) => {
    const tables = tablesOf(database)
    if (!tables.ok) return tables
    const sql = `SELECT time_updated, ${fingerprintColumn(tables.value)} AS print FROM session WHERE id = ?`
    const found = database.get(sql, id)
    if (!found.ok) return found
    if (!found.value) return { ok: true, value: undefined }
    return { ok: true, value: `${found.value['time_updated']}.${found.value['print']}` }
  })

export const sessionTextsIn = (path: string, id: string): SessionTexts => ({
  header: () => withStore(path, (database) => headerText(database, id)),
  *messages() {
    for (let after: Place | undefined; ; ) {
      const page = withStore(path, (database) => messagePage(database, id, after))
      if (!page.ok) return page.problem
      yield* page.value.texts
      after = page.value.last
      if (after === undefined) return undefined
    }
  },
  messageAt: (number) => withStore(path, (database) => messageText(database, id, number)),
})

function headerText(database: ForeignDatabase, id: string): DatabaseOutcome<Buffer | undefined> {
  const found = database.get('SELECT * FROM session WHERE id = ?', id)
  if (!found.ok) return found
  return { ok: true, value: found.value && Buffer.from(JSON.stringify({ info: sessionInfo(found.value) })) }
}

type Cells = { readonly [column: string]: unknown }

/** A session as OpenCode exports it. */
function sessionInfo(row: Cells): Fields {
  const parsed = (column: string): unknown => {
    const text = stringOf(row[column])
    return text === undefined ? undefined : (parseStructure(text) ?? text)
  }
  const some = (value: unknown): unknown => (value === null ? undefined : value)
  const hasSummary = ['additions', 'deletions', 'files'].some((name) => some(row[`summary_${name}`]) !== undefined)
  const info = {
    id: row['id'],
    slug: some(row['slug']),
    projectID: some(row['project_id']),
    workspaceID: some(row['workspace_id']),
    directory: some(row['directory']),
    path: some(row['path']),
    parentID: some(row['parent_id']),
    title: some(row['title']),
    agent: some(row['agent']),
    model: parsed('model'),
    version: some(row['version']),
    summary: hasSummary
      ? {
          additions: some(row['summary_additions']) ?? 0,
          deletions: some(row['summary_deletions']) ?? 0,
          files: some(row['summary_files']) ?? 0,
          diffs: parsed('summary_diffs'),
        }
      : undefined,
    cost: some(row['cost']),
    tokens:
      some(row['tokens_input']) === undefined
        ? undefined
        : {
            input: row['tokens_input'],
            output: row['tokens_output'],
            reasoning: row['tokens_reasoning'],
            cache: { read: row['tokens_cache_read'], write: row['tokens_cache_write'] },
          },
    share: some(row['share_url']) === undefined ? undefined : { url: row['share_url'] },
    metadata: parsed('metadata'),
    revert: parsed('revert'),
    permission: parsed('permission'),
    time: {
      created: row['time_created'],
      updated: row['time_updated'],
      compacting: some(row['time_compacting']),
      archived: some(row['time_archived']),
    },
  }
  return info
}

interface Place {
  readonly created: number
  readonly id: string
}

interface MessagePage {
  readonly texts: readonly Buffer[]
  /** Absent after the last message. */
  readonly last: Place | undefined
}

const PAGE_MESSAGES = 32
const MESSAGE_COLUMNS = 'id, time_created, CAST(data AS BLOB) AS data'

function messagePage(
  database: ForeignDatabase,
  session: string,
  after: Place | undefined,
): DatabaseOutcome<MessagePage> {
  const { created, id } = after ?? { created: -1, id: '' }
  const found = database.all(
    `SELECT ${MESSAGE_COLUMNS} FROM message WHERE session_id = ? AND (time_created, id) > (?, ?)
     ORDER BY time_created, id LIMIT ${PAGE_MESSAGES}`,
    session,
    created,
    id,
  )
  if (!found.ok) return found
  const texts = textsOf(database, session, found.value)
  if (!texts.ok) return texts
  const last = found.value.at(-1)
  const isEnd = !last || found.value.length < PAGE_MESSAGES
  const place = isEnd ? undefined : { created: Number(last['time_created']), id: String(last['id']) }
  return { ok: true, value: { texts: texts.value, last: place } }
}

function messageText(database: ForeignDatabase, session: string, number: number): DatabaseOutcome<Buffer | undefined> {
  const found = database.all(
    `SELECT ${MESSAGE_COLUMNS} FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1 OFFSET ?`,
    session,
    number - 1,
  )
  if (!found.ok) return found
  const texts = textsOf(database, session, found.value)
  return texts.ok ? { ok: true, value: texts.value[0] } : texts
}

/** Each message with its parts. */
function textsOf(
  database: ForeignDatabase,
  session: string,
  rows: readonly Cells[],
): DatabaseOutcome<readonly Buffer[]> {
  const ids = rows.map(({ id }) => String(id))
  const parts = new Map<string, Buffer[]>(ids.map((id) => [id, []]))
  if (ids.length > 0) {
    const marks = ids.map(() => '?').join(', ')
    const found = database.all(
      `SELECT id, message_id, CAST(data AS BLOB) AS data FROM part WHERE message_id IN (${marks}) ORDER BY message_id, id`,
      ...ids,
    )
    if (!found.ok) return found
    for (const { id, message_id: messageID, data } of found.value)
      parts.get(String(messageID))?.push(withIds(bytesOf(data), { id, sessionID: session, messageID }))
  }
  const texts = rows.map(({ id, data }) =>
    joinRecord(withIds(bytesOf(data), { id, sessionID: session }), parts.get(String(id)) ?? []),
  )
  return { ok: true, value: texts }
}

const bytesOf = (data: unknown): Buffer =>
  data instanceof Uint8Array ? Buffer.from(data.buffer, data.byteOffset, data.length) : Buffer.from('{}')

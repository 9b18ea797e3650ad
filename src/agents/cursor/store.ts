/** Where Cursor keeps conversations: rows of its editor's database, found and read by ranges of keys. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { type DatabaseOutcome, type DatabaseProblem, isSqliteFile } from '../../lib/sqlite/database-file.ts'
import type { ForeignDatabase } from '../../lib/sqlite/foreign-database.ts'
import { type Fields, fieldsOf, isObject, listOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import type { Issue, IssueCode } from '../../model/issue.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, HostEnvironment, Source, SourceFingerprint } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { withStore } from '../kit/open-store.ts'
import { pathOf } from '../kit/place-message.ts'
import type { RecordStore, StoredItem, StoredRecord } from '../kit/record-store.ts'
import { settingsFolder } from '../kit/settings-folder.ts'
import { isOpen, isPrompt } from './record.ts'

export const AGENT_ID = 'cursor'

const DATABASE_NAME = 'state.vscdb'

export const stores = (environment: HostEnvironment): readonly string[] => [
  join(settingsFolder(environment), 'Cursor', 'User', 'globalStorage', DATABASE_NAME),
]

export const isDatabasePath = (path: string): boolean => /\.vscdb$/i.test(path)

/** Every editor of this family has such a database; only Cursor's has the table. */
export function recognize(head: Uint8Array, path: string): boolean {
  if (!isSqliteFile(head)) return DOCUMENT.test(Buffer.from(head.subarray(0, 64)).toString('latin1'))
  return isDatabasePath(path) && hasTable(path)
}

/** A backup of one conversation. */
const DOCUMENT = /^\{"composer":\{/

function hasTable(path: string): boolean {
  const found = withStore(path, (database) =>
    database.get("SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'cursorDiskKV'"),
  )
  return found.ok && found.value !== undefined
}

export const describe = (head: Uint8Array, path: string): FileDescription | undefined =>
  recognize(head, path)
    ? {
        format: isSqliteFile(head) ? 'database' : 'conversation',
        why: phrase('conversations with their keys', '会話のキー'),
      }
    : undefined

export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) return yield* sourcesIn(root)
  for await (const path of filesMatching(root, { names: /\.vscdb$/i, accepts: hasTable }, search))
    for (const source of sourcesIn(path)) yield { ...source, root }
}

/** A store that cannot be listed is yielded as a source, and reading it reports why. */
function sourcesIn(path: string): readonly Source[] {
  if (!isDatabasePath(path)) return [{ agent: AGENT_ID, path }]
  const listed = withStore(path, listConversations)
  if (listed.ok) return listed.value.map(({ id, fingerprint }) => ({ agent: AGENT_ID, path, key: id, fingerprint }))
  return listed.problem.kind === 'empty' ? [] : [{ agent: AGENT_ID, path }]
}

export async function probe({ path, key }: Source): Promise<SourceFingerprint | undefined> {
  const file = await stat(path).catch(() => undefined)
  if (!file) return undefined
  if (key === undefined) return `${file.size}:${file.mtimeMs}:${file.ino}`
  const found = withStore(path, (database) =>
    database.get(`SELECT rowid, ${CHANGES} FROM cursorDiskKV AS own WHERE key = ?`, PREFIX + key),
  )
  if (!found.ok) return `${found.problem.kind}:${file.size}:${file.mtimeMs}`
  return found.value && fingerprintOf(found.value)
}

const PREFIX = 'composerData:'
const ID_AT = PREFIX.length + 1
/** A row gets a new number whenever it is written again. `;` follows `:`. */
const CHANGES = ['count(*)', 'max(rowid)']
  .map(
    (value, at) =>
      `(SELECT ${value} FROM cursorDiskKV WHERE key > 'bubbleId:' || substr(own.key, ${ID_AT}) || ':' AND key < 'bubbleId:' || substr(own.key, ${ID_AT}) || ';') AS change${at}`,
  )
  .join(', ')

const fingerprintOf = (row: { readonly [column: string]: unknown }): string =>
  `${row['rowid']}.${row['change0']}.${row['change1'] ?? ''}`

const PAGE = 200

function listConversations(
  database: ForeignDatabase,
): DatabaseOutcome<readonly { readonly id: string; readonly fingerprint: string }[]> {
  const found: { readonly id: string; readonly fingerprint: string }[] = []
  for (let after = PREFIX; ; ) {
    const page = database.all(
      `SELECT key, rowid, ${CHANGES} FROM cursorDiskKV AS own WHERE key > ? AND key < 'composerData;' ORDER BY key LIMIT ${PAGE}`,
      after,
    )
    if (!page.ok) return page
    for (const row of page.value) {
      const id = String(row['key']).slice(PREFIX.length)
      // The editor keeps an empty one for the next prompt.
      if (row['change0'] !== 0 || hasMessages(database, id)) found.push({ id, fingerprint: fingerprintOf(row) })
    }
    after = String(page.value.at(-1)?.['key'] ?? after)
    if (page.value.length < PAGE) return { ok: true, value: found }
  }
}

/** Early versions kept the messages in the conversation's own row. */
function hasMessages(database: ForeignDatabase, id: string): boolean {
  const found = valueAt(database, PREFIX + id)
  const composer = found.ok && found.value ? fieldsOf(parseStructure(found.value.toString('utf8'))) : undefined
  return listOf(composer?.['conversation']).length > 0
}

function valueAt(database: ForeignDatabase, key: string): DatabaseOutcome<Buffer | undefined> {
  const found = database.get('SELECT CAST(value AS BLOB) AS value FROM cursorDiskKV WHERE key = ?', key)
  if (!found.ok) return found
  const value = found.value?.['value']
  return { ok: true, value: value instanceof Uint8Array ? Buffer.from(value) : undefined }
}

/** A conversation: its own row, and its messages in order, each as text. */
interface Conversation {
  readonly composer: Buffer
  readonly length: number
  messageAt(number: number): DatabaseOutcome<Buffer | undefined>
}

function open(source: Source): DatabaseOutcome<Conversation | undefined> {
  const { path, key, bytes } = source
  if (bytes) return { ok: true, value: conversationOf(bytes) }
  if (key === undefined) return withStore(path, (database) => valueAt(database, PREFIX)) as DatabaseOutcome<undefined>
  const row = withStore(path, (database) => valueAt(database, PREFIX + key))
  if (!row.ok) return row
  const composer = row.value && fieldsOf(parseStructure(row.value.toString('utf8')))
  if (!row.value || !composer) return { ok: true, value: undefined }
  const inline = listOf(composer['conversation'])
  const ids = listOf(composer['fullConversationHeadersOnly']).flatMap(
    (header) => nonEmptyStringOf(fieldsOf(header)?.['bubbleId']) ?? [],
  )
  if (ids.length === 0) return { ok: true, value: conversationWith(composer, inline) }
  return {
    ok: true,
    value: {
      composer: row.value,
      length: ids.length,
      messageAt: (number) =>
        withStore(path, (database) => valueAt(database, `bubbleId:${key}:${ids[number - 1] ?? ''}`)),
    },
  }
}

function conversationOf(bytes: Uint8Array): Conversation | undefined {
  const document = fieldsOf(parseStructure(Buffer.from(bytes).toString('utf8')))
  const composer = fieldsOf(document?.['composer'])
  return composer && conversationWith(composer, listOf(document?.['bubbles']))
}

function conversationWith(composer: Fields, bubbles: readonly unknown[]): Conversation {
  const { conversation: _, ...rest } = composer
  return {
    composer: Buffer.from(JSON.stringify(rest)),
    length: bubbles.length,
    messageAt: (number) => {
      const bubble = bubbles[number - 1]
      return { ok: true, value: bubble === undefined ? undefined : Buffer.from(JSON.stringify(bubble)) }
    },
  }
}

export const recordStore: RecordStore = {
  records,
  recordAt(source, item) {
    const opened = open(source)
    if (!opened.ok || !opened.value) return undefined
    if (item === 0) return headerOf(opened.value.composer)
    if (item > opened.value.length) return undefined
    const found = opened.value.messageAt(item)
    return found.ok ? recordOf(found.value ?? GONE) : undefined
  },
  isOpen,
  startsTurn: isPrompt,
}

function* records(source: Source): Generator<StoredItem> {
  const opened = open(source)
  if (!opened.ok) return yield { kind: 'issue', issue: problemIssue(source, opened.problem) }
  const header = opened.value && headerOf(opened.value.composer)
  if (!opened.value || !header)
    return yield {
      kind: 'issue',
      issue: issueOf(source, 'unreadable', 'the conversation is gone: its program deleted it'),
    }
  yield { kind: 'record', ...header }
  for (let number = 1; number <= opened.value.length; number++) {
    const found = opened.value.messageAt(number)
    if (!found.ok) return yield { kind: 'issue', issue: problemIssue(source, found.problem) }
    yield { kind: 'record', ...recordOf(found.value ?? GONE) }
    if (found.value && !parsed(found.value))
      yield { kind: 'issue', issue: issueOf(source, 'bad_json', `message ${number} is not as Cursor writes it`) }
  }
}

/** A message that the conversation names, and that is not there. It keeps its place. */
const GONE = Buffer.from('{"missing":true}')

const parsed = (bytes: Buffer): Fields | undefined => {
  const value = parseStructure(bytes.toString('utf8'))
  return isObject(value) ? value : undefined
}

function headerOf(bytes: Buffer): StoredRecord | undefined {
  const composer = parsed(bytes)
  const essence = Buffer.from(JSON.stringify([composer?.['composerId'] ?? null, composer?.['createdAt'] ?? null]))
  return composer && { record: { composer }, bytes: wrapped('composer', bytes), essence }
}

function recordOf(bytes: Buffer): StoredRecord {
  const bubble = parsed(bytes)
  if (bubble) return { record: { bubble }, bytes: wrapped('bubble', bytes) }
  const record = { bubble: { unreadable: bytes.toString('utf8') } }
  return { record, bytes: Buffer.from(JSON.stringify(record)) }
}

const wrapped = (key: string, bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"${key}":`), bytes, Buffer.from('}')])

const issueOf = (source: Source, code: IssueCode, reason: string): Issue => ({
  code,
  reason,
  path: pathOf(source),
  ...(source.key !== undefined && { key: source.key }),
})

const problemIssue = (source: Source, { kind, reason }: DatabaseProblem): Issue =>
  issueOf(source, kind === 'cut_short' ? 'cut_short' : 'unreadable', `${kind.replaceAll('_', ' ')}: ${reason.en}`)

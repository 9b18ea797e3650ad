/** Searches text that is not indexed: the middle of long output, and logs that are not indexed yet. */
import { closeSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Agent, Source } from '../agents/agent.ts'
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import { loadAgent } from '../agents/load-agents.ts'
import type { IndexReader } from '../index/reader.ts'
import { isSearchableKind, messageKindOf } from '../index/row-encoding.ts'
import type { SessionFilter } from '../index/session-filter.ts'
import { isCompressed, openFile, readFileRange } from '../lib/files/file-bytes.ts'
import { openRegularFile } from '../lib/files/regular-file.ts'
import { withYields } from '../lib/yield-loop.ts'
import type { MessageStore } from '../messages/message-store.ts'
import type { SessionId } from '../model/ids.ts'
import type { IssueCode } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { recordedTime } from '../model/recorded-time.ts'
import { findTouchedFiles } from '../model/touched-files.ts'
import { checkCandidates } from './check-candidates.ts'
import { hitFromMessage, type MessageHit, searchFieldsOf } from './hit.ts'
import { matchesQuery, PatternTimeLimit } from './matching.ts'
import type { Period } from './query/filters.ts'
import type { ParsedQuery, QueryFilter } from './query/query.ts'
import { PIECE_OVERLAP_BYTES, type RawByteTest, rawByteTestOf } from './raw-needle.ts'
import {
  findCandidates,
  findPartlyIndexedSessions,
  findTruncatedMessages,
  type PartlyIndexedSession,
  type SearchCandidate,
} from './text-index/candidates.ts'
import { kindFlagsOf } from './text-index/conditions.ts'
import { isFoundByIndex } from './text-index/find-rows.ts'

export interface DeepSearchOptions {
  readonly filter?: SessionFilter
  readonly signal?: AbortSignal
}

export type DeepSearchEvent =
  | { readonly kind: 'hit'; readonly hit: MessageHit }
  /** Number of incompletely indexed sessions searched so far. */
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  /** `unread` counts sessions not searched to the end: their log is unreadable, or the patterns take too long in it. */
  | { readonly kind: 'end'; readonly unread: number }

/** Size of the first page, small so that the first hits appear immediately. */
const FIRST_PAGE_ROWS = 20
const PAGE_ROWS = 200
/** Yields to other work of the process after this many milliseconds. */
const YIELD_AFTER_MS = 10
/**
 * The search stops after this many logs in which patterns ran out of time: each one blocks the process for a second.
 */
const MAX_SLOW_LOGS = 5

interface DeepSearchState {
  readonly query: ParsedQuery
  readonly index: IndexReader
  readonly messages: MessageStore
  readonly signal: AbortSignal | undefined
  readonly unread: Set<SessionId>
}

/** State of the search in one log. */
interface LogSearchState extends DeepSearchState {
  readonly time: PatternTimeLimit
}

export async function* deepSearch(
  query: ParsedQuery,
  index: IndexReader,
  messages: MessageStore,
  { filter, signal }: DeepSearchOptions,
): AsyncGenerator<DeepSearchEvent> {
  const search: DeepSearchState = { query, index, messages, signal, unread: new Set() }
  for await (const hit of searchIndex(search, filter)) yield { kind: 'hit', hit }
  const partlyIndexed = index.read((db) => findPartlyIndexedSessions(db, query, filter), [])
  const test = rawByteTestOf(query)
  let lastYield = performance.now()
  let done = 0
  let remainingSlowLogs = MAX_SLOW_LOGS
  for (const sessions of groupBySource(partlyIndexed)) {
    if (signal?.aborted) return
    yield { kind: 'progress', done, total: partlyIndexed.length }
    done += sessions.length
    const source = remainingSlowLogs === 0 ? undefined : sourceOrUndefined(sessions[0], messages)
    const time = new PatternTimeLimit()
    if (source && (!test || (await mayContainQuery(source, test(), signal))))
      for await (const hit of searchSource({ ...search, time }, sessions, source, test)) yield { kind: 'hit', hit }
    if (!source || time.isExhausted) for (const { name } of sessions) search.unread.add(name)
    if (time.isExhausted) remainingSlowLogs--
    if (performance.now() - lastYield < YIELD_AFTER_MS) continue
    await setImmediate()
    lastYield = performance.now()
  }
  yield { kind: 'progress', done: partlyIndexed.length, total: partlyIndexed.length }
  yield { kind: 'end', unread: search.unread.size }
}

async function* searchIndex(
  { query, index, messages, signal, unread }: DeepSearchState,
  filter?: SessionFilter,
): AsyncGenerator<MessageHit> {
  let limit = FIRST_PAGE_ROWS
  for (let before: number | undefined; !signal?.aborted; limit = PAGE_ROWS) {
    const page = index.read((db) => findCandidates(db, query, { limit, filter, before }), [])
    for (const { hit } of await checkCandidates(messages, query, page, { unread })) yield hit
    before = page.at(-1)?.row
    if (before === undefined) return
  }
}

type SourceSessions = readonly [PartlyIndexedSession, ...PartlyIndexedSession[]]

/** Sessions in the same source are searched together, at the position of the newest. */
function groupBySource(sessions: readonly PartlyIndexedSession[]): Iterable<SourceSessions> {
  const groups = new Map<string, [PartlyIndexedSession, ...PartlyIndexedSession[]]>()
  for (const session of sessions) {
    const key = session.claim === undefined ? session.name : `${session.agent}\n${session.path}`
    const group = groups.get(key)
    if (group) group.push(session)
    else groups.set(key, [session])
  }
  return groups.values()
}

async function* searchSource(
  search: LogSearchState,
  sessions: SourceSessions,
  source: Source,
  test: (() => RawByteTest) | undefined,
): AsyncGenerator<MessageHit> {
  for (const session of sessions) if (session.indexed) yield* searchTruncated(search, session, test)
  const missing = sessions.filter(({ indexed }) => !indexed)
  if (missing.length > 0) yield* searchLog(search, missing, await loadAgent(source.agent), source)
}

/** Searches messages of which only head and tail are indexed. */
async function* searchTruncated(
  { query, index, messages, signal, unread, time }: LogSearchState,
  session: PartlyIndexedSession,
  test: (() => RawByteTest) | undefined,
): AsyncGenerator<MessageHit> {
  const agent = await loadAgent(session.agent)
  const rest: SearchCandidate[] = []
  for (const one of index.read((db) => findTruncatedMessages(db, query, session.session), [])) {
    const span = agent.span?.(one.locator)
    if (span && test && !session.kept && !(await spanMayContain(session.path, span, test()))) continue
    rest.push(one)
  }
  for (let at = 0; at < rest.length && !signal?.aborted; at += PAGE_ROWS) {
    const page = rest.slice(at, at + PAGE_ROWS)
    const unknown = index.read((db) => page.filter(({ row }) => !isFoundByIndex(db, query, row)), [])
    for (const { hit } of await checkCandidates(messages, query, unknown, { isDoubtful: true, unread, time })) yield hit
  }
}

/** Checks the raw bytes of one message. An unreadable one counts as a possible match, and is then reported as gone. */
async function spanMayContain(
  path: string,
  [offset, length]: readonly [number, number],
  test: RawByteTest,
): Promise<boolean> {
  try {
    return test.piece(await readFileRange(path, offset, length)) || test.mayContain()
  } catch {
    return true
  }
}

function sourceOrUndefined(session: PartlyIndexedSession, messages: MessageStore): Source | undefined {
  try {
    return messages.sourceAt(session, session.claim === undefined ? session.name : undefined)
  } catch {
    return undefined
  }
}

/** Size of the pieces in which raw bytes of a source are read. */
const PIECE_BYTES = 1 << 20
/** Reused for every piece. Safe because nothing is awaited between filling and checking it. */
const scanBuffer = Buffer.allocUnsafeSlow(PIECE_OVERLAP_BYTES + PIECE_BYTES)

/** False only if the source certainly contains no match. */
async function mayContainQuery(source: Source, test: RawByteTest, signal?: AbortSignal): Promise<boolean> {
  if (source.bytes) return test.piece(Buffer.from(source.bytes)) || test.mayContain()
  if (source.key !== undefined) return true
  try {
    return isCompressed(source.path)
      ? await scanCompressedFile(source.path, test, signal)
      : scanPlainFile(source.path, test, signal)
  } catch {
    // Reading the source will report the error.
    return true
  }
}

function scanPlainFile(path: string, test: RawByteTest, signal: AbortSignal | undefined): boolean {
  const fd = openRegularFile(path)
  try {
    let overlap = 0
    for (let at = 0; !signal?.aborted; ) {
      const read = readSync(fd, scanBuffer, overlap, PIECE_BYTES, at)
      if (read === 0) break
      if (test.piece(scanBuffer.subarray(0, overlap + read))) return true
      at += read
      const end = overlap + read
      overlap = Math.min(PIECE_OVERLAP_BYTES, end)
      scanBuffer.copyWithin(0, end - overlap, end)
    }
    return test.mayContain()
  } finally {
    closeSync(fd)
  }
}

async function scanCompressedFile(path: string, test: RawByteTest, signal: AbortSignal | undefined): Promise<boolean> {
  const file = openFile(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of file.chunks(0)) {
      if (signal?.aborted) break
      const piece = Buffer.concat([rest, chunk])
      if (test.piece(piece)) return true
      rest = piece.subarray(-PIECE_OVERLAP_BYTES)
    }
    return test.mayContain()
  } finally {
    file.close()
  }
}

const MAX_KNOWN_ROWS = 1e6
const UNREADABLE_CODES: ReadonlySet<IssueCode> = new Set<IssueCode>(['unreadable', 'internal_error'])

/**
 * Searches a log that is not completely indexed, and leaves out hits of the index. @param sessions the sessions of the
 * source that the query covers
 */
async function* searchLog(
  { query, index, unread, time }: LogSearchState,
  sessions: readonly PartlyIndexedSession[],
  agent: Agent,
  source: Source,
): AsyncGenerator<MessageHit> {
  const repeated = new Set<string>()
  const found: { readonly id: string; readonly hit: MessageHit }[] = []
  const names = new Map(sessions.map(({ claim, name }) => [claim, name]))
  const filter = { ids: sessions.map(({ name }) => name), kind: 'any' } as const
  const indexed = index.read((db) => findCandidates(db, query, { limit: MAX_KNOWN_ROWS, filter }), [])
  const known = new Set(indexed.map(({ session, id }) => session + id))
  for await (const batch of withYields(catchReaderErrors(source, agent.read(source))))
    for (const one of batch) {
      if (one.kind === 'issue' && UNREADABLE_CODES.has(one.issue.code))
        for (const { name } of sessions) unread.add(name)
      if (one.kind !== 'message') continue
      const { message } = one
      const name = names.get(message.raw.session_id) ?? names.get(undefined)
      if (name === undefined) continue
      for (const id of message.metadata?.duplicates ?? []) repeated.add(id)
      if (
        !isSearchableKind(messageKindOf(message)) ||
        known.has(name + message.id) ||
        !matchesFilters(message, query.filters)
      )
        continue
      const fields = searchFieldsOf(message, query)
      if (matchesQuery(query, fields, time))
        found.push({ id: message.id, hit: hitFromMessage(query, message, name, fields) })
    }
  for (const { id, hit } of found) if (!repeated.has(id)) yield hit
}

/** Applies the filters to a message that is not indexed. Filters on its session were applied before. */
const matchesFilters = (message: NormalizedMessage, filters: readonly QueryFilter[]): boolean =>
  filters.every((filter) => {
    const isMatch = isMatchOf(message, filter)
    return isMatch === undefined || isMatch !== filter.not
  })

function isMatchOf(message: NormalizedMessage, filter: QueryFilter): boolean | undefined {
  switch (filter.kind) {
    case 'tool': {
      const tool = message.tool_call?.name?.toLowerCase()
      return filter.values.some((value) => value.toLowerCase() === tool)
    }
    case 'file': {
      const paths = findTouchedFiles(message).map(({ path }) => path.toLowerCase())
      return filter.values.some((value) => paths.some((path) => path.includes(value.toLowerCase())))
    }
    case 'role':
      return filter.values.includes(message.role)
    case 'has':
      return kindFlagsOf(filter).some((flag) => (messageKindOf(message) & flag) !== 0)
    case 'on':
      return filter.values.some((period) => isInPeriod(message, period))
    case 'time':
      return isInPeriod(message, filter)
    default:
      return undefined
  }
}

/** Messages without a date are in no period. */
function isInPeriod(message: NormalizedMessage, { from, until }: Partial<Period>): boolean {
  const at = recordedTime(message)
  return at !== null && (from === undefined || at >= from) && (until === undefined || at < until)
}

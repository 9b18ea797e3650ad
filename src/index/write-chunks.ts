/** Writes chunks of sessions: rows, their text and their sums, in order of time. */

import type { Db } from '../lib/sqlite/own-database.ts'
import { addSafely } from '../model/checked-numbers.ts'
import type { FileTouch } from '../model/touched-files.ts'
import type { BuiltTerms } from '../search/segments/term-builder.ts'
import { joinLocator, unpackNumbers } from './packed-locator.ts'
import { packRows, unpackRows } from './packed-rows.ts'
import type { SessionChunk } from './records.ts'
import {
  AT_FIELD,
  DURATION_FIELD,
  documentsByRow,
  KIND_FIELD,
  LINE_FIELD,
  PART_FIELD,
  type RowBatch,
  rowField,
  rowLocator,
  type TextDocument,
  TOOL_FIELD,
} from './row-batch.ts'
import {
  addOnConflict,
  compressText,
  DUPLICATE,
  ERROR,
  exactInteger,
  firstIdAt,
  INJECTED,
  isSearchableKind,
  NO_QUARTER,
  PROVISIONAL,
  QUARTER_MS,
  roleOfKind,
  sourceTypeOfKind,
  timeOfId,
  UNDATED,
} from './row-encoding.ts'
import { newDocuments, traitsOf } from './segment-documents.ts'
import { segmentWriter } from './text-segments.ts'
import type { UnsearchableBatch } from './unsearchable-rows.ts'
import { type IssueWriter, MAX_ISSUES_PER_PASS, type StringIds } from './write-sources.ts'

/** A row with the chunk that contains it. */
export interface PendingRow {
  readonly rows: RowBatch
  readonly row: number
  readonly session: number
  readonly at: number
  readonly line: number
  readonly part: number
  readonly kind: number
  /** The id of the tool's name. */
  readonly tool: number | undefined
  readonly documents: readonly TextDocument[] | undefined
  readonly files: readonly FileTouch[] | undefined
}

/** By session, then by position in it. */
export type RepeatedPositions = Map<number, Map<number, readonly [line: number, part: number]>>

export function collectRepeated(chunks: readonly SessionChunk[]): RepeatedPositions {
  const found: RepeatedPositions = new Map()
  for (const { session, repeated } of chunks)
    for (const position of repeated) {
      const positions = found.get(session) ?? new Map()
      positions.set(positionKey(...position), position)
      found.set(session, positions)
    }
  return found
}

const positionKey = (line: number, part: number): number => line * 2 ** 20 + part

/** Removes positions from `repeated` that are in these chunks. */
export function toPendingRows(
  { session, rows, cursor }: SessionChunk,
  repeated: RepeatedPositions,
  words: StringIds,
): readonly PendingRow[] {
  const provisional = cursor === undefined ? PROVISIONAL : 0
  const positions = repeated.get(session)
  const documents = documentsByRow(rows)
  const files: (readonly FileTouch[] | undefined)[] = []
  for (const touched of rows.touched) files[touched.row] = touched.files
  const tools = rows.tools.map(words)
  const pending: PendingRow[] = []
  for (let row = 0; row < rows.count; row++) {
    const line = rowField(rows, row, LINE_FIELD)
    const part = rowField(rows, row, PART_FIELD)
    const isRepeated = positions?.delete(positionKey(line, part)) ?? false
    pending.push({
      rows,
      row,
      session,
      at: rowField(rows, row, AT_FIELD),
      line,
      part,
      kind: rowField(rows, row, KIND_FIELD) | provisional | (isRepeated ? DUPLICATE : 0),
      tool: tools[rowField(rows, row, TOOL_FIELD)],
      documents: documents[row],
      files: files[row],
    })
  }
  return pending
}

const TOUCH_NUMBERS = { named: 0, added: 1, updated: 2, deleted: 3 } as const

export interface ChunkWriter {
  /** Writes into the open transaction. */
  put(chunks: readonly SessionChunk[], terms: BuiltTerms, revision: number): void
  /** Deletes every row of a session. */
  forget(session: number): void
}

/** Numbers of texts that many rows share. */
export interface SharedTexts {
  readonly words: StringIds
  readonly files: StringIds
  /** Of locators. */
  readonly shapes: StringIds
}

/** An agent whose locators all differ in more than numbers would fill the table. */
const MAX_LOCATOR_SHAPES = 2000

export function chunkWriter(db: Db, { words, files, shapes }: SharedTexts, putIssue: IssueWriter): ChunkWriter {
  const addMessage = db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')
  const countShapes = db.prepare('SELECT count(*) FROM locator_shape').pluck()
  const selectGreatest = db.prepare('SELECT max(id) FROM message WHERE id >= ? AND id < ?').pluck()
  const text = segmentWriter(db)
  const dropMessage = db.prepare('DELETE FROM message WHERE id = ?')
  const allRows = db.prepare('SELECT id, kind FROM message WHERE session_id = ?')
  const provisionalRows = db.prepare('SELECT id, kind FROM message WHERE session_id = ? AND kind & 64')
  const selectAt = db.prepare('SELECT id, kind, rest FROM message WHERE session_id = ? AND line = ? AND part = ?')
  const setKind = db.prepare('UPDATE message SET kind = ? WHERE id = ?')
  const touch = db.prepare('INSERT OR IGNORE INTO touched VALUES (?, ?, ?, ?)')
  const untouch = db.prepare('DELETE FROM touched WHERE session_id = ? AND message_id = ?')
  const untouchAll = db.prepare('DELETE FROM touched WHERE session_id = ?')
  const addTool = db.prepare(
    `INSERT INTO tool_use VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${addOnConflict('calls', 'results', 'errors', 'duration_ms', 'timed')}`,
  )
  const addActivity = db.prepare(
    `INSERT INTO activity VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET prompts = prompts + excluded.prompts,
       answers = answers + excluded.answers, calls = calls + excluded.calls`,
  )
  const dropSums = ['tool_use', 'activity', 'aside'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE session_id = ? AND (provisional = 1 OR ?)`),
  )
  const unsearchable = unsearchableRowWriter(db)
  const dropIssues = db.prepare('DELETE FROM issue WHERE source_id = ? AND pass = 2 AND (provisional = 1 OR ?)')
  const countIssues = db.prepare('SELECT count(*) FROM issue WHERE source_id = ? AND pass = 2').pluck()
  const advance = db.prepare(
    `UPDATE session SET cursor = coalesce(?, cursor), read_bytes = ?, indexed = ?, revision = ? WHERE id = ?`,
  )
  const extend = db.prepare(
    `UPDATE session SET first_row = min(coalesce(first_row, :low), :low), last_row = max(coalesce(last_row, :high), :high) WHERE id = :session`,
  )
  const restart = db.prepare(
    `UPDATE session SET cursor = NULL, read_bytes = 0, first_row = NULL, last_row = NULL WHERE id = ?`,
  )

  const isThere = db.prepare('SELECT 1 FROM session WHERE id = ? AND source_id = ?')
  const reread = db.prepare('UPDATE session SET cursor = NULL WHERE id = ?')

  const dropRows = (session: number, rows: readonly { id: number; kind: number }[]): void => {
    for (const { id, kind } of rows) {
      if (isSearchableKind(kind)) text.remove(id)
      dropMessage.run(id)
      untouch.run(session, id)
    }
  }

  const forget = (session: number): void => {
    dropRows(session, allRows.all(session) as { id: number; kind: number }[])
    untouchAll.run(session)
    for (const drop of dropSums) drop.run(session, 1)
    restart.run(session)
  }

  const prepare = (chunk: SessionChunk): void => {
    if (chunk.fromStart) forget(chunk.session)
    else dropRows(chunk.session, provisionalRows.all(chunk.session) as { id: number; kind: number }[])
    for (const drop of dropSums) drop.run(chunk.session, 0)
    dropIssues.run(chunk.source, chunk.fromStart ? 1 : 0)
  }

  /** Marks messages of earlier transactions that this one repeats. */
  const markRepeated = (repeated: RepeatedPositions): void => {
    for (const [session, places] of repeated)
      for (const [line, part] of places.values()) {
        const earlier = selectAt.get(session, line, part) as { id: number; kind: number; rest: number } | undefined
        if (!earlier) unsearchable.markRepeated(session, [line, part])
        if (!earlier || earlier.kind & DUPLICATE) continue
        const { id, kind, rest } = earlier
        text.remove(id)
        setKind.run(kind | DUPLICATE, id)
        const column = activityColumnOf(kind)
        const decrements = [0, 1, 2].map((one) => (one === column ? -1 : 0))
        if (column >= 0) addActivity.run(session, quarterOf(timeOfId(id) + rest, kind), 0, ...decrements)
      }
  }

  /** Undefined if the table is full. */
  const storedShape = (text: string): number | undefined => {
    const known = shapes.known(text)
    if (known !== undefined) return known
    return (countShapes.get() as number) >= MAX_LOCATOR_SHAPES ? undefined : shapes(text)
  }

  const storedLocator = (rows: RowBatch, row: number): readonly [number | null, string | Uint8Array] => {
    const locator = rowLocator(rows, row)
    if (typeof locator === 'string') return [null, locator]
    const { numbers } = locator
    const text = rows.shapes[locator.shape] ?? ''
    const shape = storedShape(text)
    return shape === undefined
      ? [null, joinLocator({ shape: text, numbers: unpackNumbers(numbers) })]
      : [shape, numbers]
  }

  const put = (id: number, { rows, row, session, at: time, line, part, kind, tool }: PendingRow): boolean => {
    const rest = exactInteger(time, 'time') - timeOfId(id)
    return (
      addMessage.run(
        id,
        session,
        exactInteger(line, 'line'),
        exactInteger(part, 'part'),
        kind,
        tool ?? null,
        rest,
        ...storedLocator(rows, row),
      ).changes > 0
    )
  }

  /** @param minId greater than all ids assigned before */
  const insert = (pending: PendingRow, minId: number): number => {
    let id = Math.max(firstIdAt(pending.at), minId)
    for (let tries = 0; !put(id, pending); tries++)
      id = tries < 4 ? id + 1 : Number(selectGreatest.get(id, id + 100_000) ?? id) + 1
    for (const { path, how } of pending.files ?? []) touch.run(pending.session, id, files(path), TOUCH_NUMBERS[how])
    return id
  }

  return {
    put(all, terms, revision) {
      // Another process may have removed a session while it was read.
      const chunks = all.filter(({ session, source }) => isThere.get(session, source) !== undefined)
      for (const chunk of chunks) prepare(chunk)
      const repeated = collectRepeated(chunks)
      const pendingByChunk = chunks.map((chunk) => toPendingRows(chunk, repeated, words))
      const pending = pendingByChunk.flat()
      for (const { session, rows, cursor } of chunks) unsearchable.put(session, rows.aside, cursor === undefined)
      markRepeated(repeated)
      pending.sort((a, b) => a.at - b.at || a.session - b.session || a.line - b.line || a.part - b.part)
      const documents = { ...newDocuments(terms.lengths.length), lengths: terms.lengths }
      let minId = 0
      const rowRanges = new Map<number, { session: number; low: number; high: number }>()
      for (const one of pending) {
        const id = insert(one, minId)
        if (isSearchableKind(one.kind))
          for (const { document, scope } of one.documents ?? []) {
            documents.rows[document] = id
            documents.sessions[document] = one.session
            documents.tools[document] = one.tool ?? 0
            documents.traits[document] = traitsOf(scope, one.kind)
          }
        const rowRange = rowRanges.get(one.session)
        if (rowRange) rowRange.high = id
        else rowRanges.set(one.session, { session: one.session, low: id, high: id })
        minId = id + 1
      }
      text.add(terms, documents)
      for (const rowRange of rowRanges.values()) extend.run(rowRange)
      const cursors = new Map(
        chunks.flatMap(({ session, cursor }) => (cursor === undefined ? [] : [[session, cursor]])),
      )
      chunks.forEach((chunk, number) => {
        const provisional = chunk.cursor === undefined ? 1 : 0
        const cursor = cursors.get(chunk.session) === chunk.cursor ? chunk.cursor : undefined
        writeSums(chunk.session, pendingByChunk[number] ?? [], provisional)
        const remaining = MAX_ISSUES_PER_PASS - Number(countIssues.get(chunk.source))
        for (const issue of chunk.issues.slice(0, Math.max(0, remaining))) putIssue(chunk.source, 2, provisional, issue)
        advance.run(
          cursor === undefined ? null : compressText(cursor),
          chunk.read,
          chunk.done ? 1 : 0,
          revision,
          chunk.session,
        )
        // Changes of earlier rows cannot be undone, so the complete session is read again when it grows.
        if (provisional && chunk.repeated.length > 0) reread.run(chunk.session)
      })
    },
    forget,
  }

  function writeSums(session: number, pending: readonly PendingRow[], provisional: 0 | 1): void {
    const tools = new Map<number, [calls: number, results: number, errors: number, ms: number, timed: number]>()
    const quarters = new Map<number, [prompts: number, answers: number, calls: number]>()
    for (const { kind, rows, row, tool } of pending) {
      if (!isSearchableKind(kind)) continue
      const type = sourceTypeOfKind(kind)
      const column = activityColumnOf(kind)
      if (column >= 0) {
        const quarter = quarterOf(rowField(rows, row, AT_FIELD), kind)
        const sums = quarters.get(quarter) ?? [0, 0, 0]
        sums[column as 0]++
        quarters.set(quarter, sums)
      }
      if (tool === undefined || (type !== 'tool_call' && type !== 'tool_result')) continue
      const sums = tools.get(tool) ?? [0, 0, 0, 0, 0]
      if (type === 'tool_call') sums[0]++
      else sums[1]++
      if (kind & ERROR) sums[2]++
      const duration = rowField(rows, row, DURATION_FIELD)
      if (duration >= 0) {
        sums[3] = addSafely(sums[3], exactInteger(duration, 'duration'))
        sums[4]++
      }
      tools.set(tool, sums)
    }
    for (const [tool, sums] of tools) addTool.run(session, tool, provisional, ...sums)
    for (const [quarter, sums] of quarters) addActivity.run(session, quarter, provisional, ...sums)
  }
}

const quarterOf = (at: number, kind: number): number => (kind & UNDATED ? NO_QUARTER : Math.floor(at / QUARTER_MS))

/** Column for prompts, answers or calls. Other kinds and injected text are not counted. */
function activityColumnOf(kind: number): number {
  if ((kind & INJECTED) !== 0) return -1
  const role = roleOfKind(kind)
  return role === 'user' ? 0 : role === 'assistant' ? 1 : sourceTypeOfKind(kind) === 'tool_call' ? 2 : -1
}

/** Writes unsearchable rows in packed batches. */
interface UnsearchableRowWriter {
  put(session: number, pieces: readonly UnsearchableBatch[], isProvisional: boolean): void
  /** Marks a stored row as repeating a later message. */
  markRepeated(session: number, position: readonly [line: number, part: number]): void
}

function unsearchableRowWriter(db: Db): UnsearchableRowWriter {
  const add = db.prepare(
    'INSERT INTO aside (session_id, first_line, last_line, provisional, count, packed) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const selectOverlapping = db.prepare(
    'SELECT id, packed FROM aside WHERE session_id = ? AND +first_line <= ? AND last_line >= ? ORDER BY last_line',
  )
  const replace = db.prepare('UPDATE aside SET packed = ? WHERE id = ?')
  return {
    put(session, pieces, isProvisional) {
      for (const { first, last, count, packed } of pieces)
        add.run(session, first, last, isProvisional ? 1 : 0, count, packed)
    },
    markRepeated(session, [line, part]) {
      for (const { id, packed } of selectOverlapping.all(session, line, line) as { id: number; packed: Uint8Array }[]) {
        const rows = unpackRows(packed)
        const at = rows.findIndex((row) => row.line === line && row.part === part)
        const row = rows[at]
        if (row) replace.run(packRows(rows.with(at, { ...row, kind: row.kind | DUPLICATE })), id)
      }
    },
  }
}

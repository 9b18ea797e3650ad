/** Writes stretches of sessions: rows, their text and their sums, in the order of time. */

import { addSafely } from '../../model/numbers.ts'
import { SPOKEN } from '../../model/spoken.ts'
import type { Db } from '../open.ts'
import type { Chunk } from '../record.ts'
import { addedUp, exact } from '../rows/exact.ts'
import { DUPLICATE, ERROR, INJECTED, isFound, roleOf, typeOf } from '../rows/kind.ts'
import { packText } from '../rows/packed.ts'
import { AT, DURATION, locatorOf, numberAt, type Text, TOOL } from '../rows/rows.ts'
import { idAt, timeOf } from '../rows/time-id.ts'
import { SAID } from '../schema.ts'
import { asidesIn } from './asides.ts'
import { type Placed, placedRows, type Repeated, repeatedIn } from './placed.ts'
import { MOST_ISSUES, type PutIssue } from './sources.ts'
import type { Numbers } from './words.ts'

const QUARTER = 900_000
const HOW = { named: 0, added: 1, updated: 2, deleted: 3 } as const

export interface Chunks {
  /** All in the transaction that is open. */
  put(chunks: readonly Chunk[], revision: number): void
  /** Every row of a session goes. */
  forget(session: number): void
}

const CONTEXT = SPOKEN.indexOf('context')

export function chunksIn(db: Db, words: Numbers, files: Numbers, putIssue: PutIssue): Chunks {
  const addMessage = db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')
  const greatest = db.prepare('SELECT max(id) FROM message WHERE id >= ? AND id < ?').pluck()
  const addText = db.prepare(
    `INSERT INTO said (rowid, ${SAID.join(', ')}) VALUES (?, ${SAID.map(() => '?').join(', ')})`,
  )
  const addOnly = SPOKEN.map((voice) =>
    db.prepare(`INSERT INTO ${voice === 'context' ? 'given' : 'said'} (rowid, ${voice}) VALUES (?, ?)`),
  )
  const dropContext = db.prepare('DELETE FROM given WHERE rowid = ?')
  const dropSaid = db.prepare('DELETE FROM said WHERE rowid = ?')
  const dropMessage = db.prepare('DELETE FROM message WHERE id = ?')
  const allRows = db.prepare('SELECT id, kind FROM message WHERE session_id = ?')
  const provisionalRows = db.prepare('SELECT id, kind FROM message WHERE session_id = ? AND kind & 64')
  const at = db.prepare('SELECT id, kind, rest FROM message WHERE session_id = ? AND line = ? AND part = ?')
  const setKind = db.prepare('UPDATE message SET kind = ? WHERE id = ?')
  const touch = db.prepare('INSERT OR IGNORE INTO touched VALUES (?, ?, ?, ?)')
  const untouch = db.prepare('DELETE FROM touched WHERE session_id = ? AND message_id = ?')
  const untouchAll = db.prepare('DELETE FROM touched WHERE session_id = ?')
  const addTool = db.prepare(
    `INSERT INTO tool_use VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${addedUp('calls', 'results', 'errors', 'duration_ms', 'timed')}`,
  )
  const addActivity = db.prepare(
    `INSERT INTO activity VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET prompts = prompts + excluded.prompts,
       answers = answers + excluded.answers, calls = calls + excluded.calls`,
  )
  const dropSums = ['tool_use', 'activity', 'aside'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE session_id = ? AND (provisional = 1 OR ?)`),
  )
  const asides = asidesIn(db)
  const dropIssues = db.prepare('DELETE FROM issue WHERE source_id = ? AND pass = 2 AND (provisional = 1 OR ?)')
  const countIssues = db.prepare('SELECT count(*) FROM issue WHERE source_id = ? AND pass = 2').pluck()
  const advance = db.prepare(
    `UPDATE session SET cursor = coalesce(?, cursor), read_bytes = ?, cut_bytes = cut_bytes + ?, cut_after = ?, indexed = ?, revision = ?,
       spoke_at = coalesce(?, spoke_at), last_at = coalesce(?, spoke_at, iif(?, started_at, last_at)) WHERE id = ?`,
  )
  const extend = db.prepare(
    `UPDATE session SET first_row = min(coalesce(first_row, :low), :low), last_row = max(coalesce(last_row, :high), :high) WHERE id = :session`,
  )
  const restart = db.prepare(
    `UPDATE session SET cursor = NULL, read_bytes = 0, cut_bytes = 0, cut_after = 0, spoke_at = NULL, first_row = NULL, last_row = NULL,
       last_at = coalesce((SELECT iif(q IS NULL, modified, min(max(modified, q * ${QUARTER}), (q + 1) * ${QUARTER}))
         FROM (SELECT s.modified, (SELECT max(quarter) FROM usage WHERE source_id = s.id) AS q FROM source s WHERE s.id = session.source_id)), last_at)
     WHERE id = ?`,
  )

  const isThere = db.prepare('SELECT 1 FROM session WHERE id = ? AND source_id = ?')
  const reread = db.prepare('UPDATE session SET cursor = NULL WHERE id = ?')

  const dropText = (id: number): void => {
    dropSaid.run(id)
    dropContext.run(id)
  }

  const dropRows = (session: number, rows: readonly { id: number; kind: number }[]): void => {
    for (const { id, kind } of rows) {
      if (isFound(kind)) dropText(id)
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

  const prepare = (chunk: Chunk): void => {
    if (chunk.anew) forget(chunk.session)
    else dropRows(chunk.session, provisionalRows.all(chunk.session) as { id: number; kind: number }[])
    for (const drop of dropSums) drop.run(chunk.session, 0)
    dropIssues.run(chunk.source, chunk.anew ? 1 : 0)
  }

  /** Messages of earlier transactions that repeat one of these. */
  const markRepeated = (repeated: Repeated): void => {
    for (const [session, places] of repeated)
      for (const [line, part] of places.values()) {
        const earlier = at.get(session, line, part) as { id: number; kind: number; rest: number } | undefined
        if (!earlier) asides.markRepeated(session, [line, part])
        if (!earlier || earlier.kind & DUPLICATE) continue
        const { id, kind, rest } = earlier
        dropText(id)
        setKind.run(kind | DUPLICATE, id)
        const column = columnOf(kind)
        const less = [0, 1, 2].map((one) => (one === column ? -1 : 0))
        if (column >= 0) addActivity.run(session, Math.floor((timeOf(id) + rest) / QUARTER), 0, ...less)
      }
  }

  const put = (id: number, { rows, row, session, at: time, line, part, kind }: Placed): boolean => {
    const tool = rows.tools[numberAt(rows, row, TOOL)]
    const number = tool === undefined ? null : words(tool)
    const rest = exact(time, 'time') - timeOf(id)
    return (
      addMessage.run(id, session, exact(line, 'line'), exact(part, 'part'), kind, number, rest, locatorOf(rows, row))
        .changes > 0
    )
  }

  /** @param least greater than the ids that were given before, because the text's index likes them in order */
  const insert = (placed: Placed, least: number): number => {
    let id = Math.max(idAt(placed.at), least)
    for (let tries = 0; !put(id, placed); tries++)
      id = tries < 4 ? id + 1 : Number(greatest.get(id, id + 100_000) ?? id) + 1
    if (placed.texts && isFound(placed.kind)) addTexts(id, placed.texts)
    for (const { path, how } of placed.files ?? []) touch.run(placed.session, id, files(path), HOW[how])
    return id
  }

  const addTexts = (id: number, texts: readonly Text[]): void => {
    const said = texts.filter(({ voice }) => voice !== CONTEXT)
    if (said.length > 1) {
      const columns: (Uint8Array | null)[] = SAID.map(() => null)
      for (const { voice, words: text } of said) columns[voice] = text
      addText.run(id, ...columns)
    }
    for (const { voice, words: text } of said.length > 1 ? texts.filter((one) => one.voice === CONTEXT) : texts)
      addOnly[voice]?.run(id, text)
  }

  return {
    put(all, revision) {
      // Another process may have taken a session out while it was read.
      const chunks = all.filter(({ session, source }) => isThere.get(session, source) !== undefined)
      for (const chunk of chunks) prepare(chunk)
      const repeated = repeatedIn(chunks)
      const placedIn = chunks.map((chunk) => placedRows(chunk, repeated))
      const placed = placedIn.flat()
      for (const { session, rows, cursor } of chunks) asides.put(session, rows.aside, cursor === undefined)
      markRepeated(repeated)
      placed.sort((a, b) => a.at - b.at || a.session - b.session || a.line - b.line || a.part - b.part)
      let least = 0
      const reaches = new Map<number, { session: number; low: number; high: number }>()
      for (const one of placed) {
        const id = insert(one, least)
        const reach = reaches.get(one.session)
        if (reach) reach.high = id
        else reaches.set(one.session, { session: one.session, low: id, high: id })
        least = id + 1
      }
      for (const reach of reaches.values()) extend.run(reach)
      const cursors = new Map(
        chunks.flatMap(({ session, cursor }) => (cursor === undefined ? [] : [[session, cursor]])),
      )
      chunks.forEach((chunk, number) => {
        const provisional = chunk.cursor === undefined ? 1 : 0
        const cursor = cursors.get(chunk.session) === chunk.cursor ? chunk.cursor : undefined
        sumUp(chunk.session, placedIn[number] ?? [], provisional)
        const room = MOST_ISSUES - Number(countIssues.get(chunk.source))
        for (const issue of chunk.issues.slice(0, Math.max(0, room))) putIssue(chunk.source, 2, provisional, issue)
        const spoke = chunk.spoke ?? null
        advance.run(
          cursor === undefined ? null : packText(cursor),
          chunk.read,
          provisional ? 0 : chunk.cut,
          provisional ? chunk.cut : 0,
          chunk.done ? 1 : 0,
          revision,
          provisional ? null : spoke,
          spoke,
          // Nobody spoke: when the file was last touched says nothing.
          chunk.done ? 1 : 0,
          chunk.session,
        )
        // What it did to rows before it cannot be taken back: all is read again when there is more.
        if (provisional && chunk.repeated.length > 0) reread.run(chunk.session)
      })
    },
    forget,
  }

  function sumUp(session: number, placed: readonly Placed[], provisional: 0 | 1): void {
    const tools = new Map<string, [calls: number, results: number, errors: number, ms: number, timed: number]>()
    const quarters = new Map<number, [prompts: number, answers: number, calls: number]>()
    for (const { kind, rows, row } of placed) {
      if (!isFound(kind)) continue
      const type = typeOf(kind)
      const column = columnOf(kind)
      if (column >= 0) {
        const quarter = Math.floor(numberAt(rows, row, AT) / QUARTER)
        const sums = quarters.get(quarter) ?? [0, 0, 0]
        sums[column as 0]++
        quarters.set(quarter, sums)
      }
      const tool = rows.tools[numberAt(rows, row, TOOL)]
      if (tool === undefined || (type !== 'tool_call' && type !== 'tool_result')) continue
      const sums = tools.get(tool) ?? [0, 0, 0, 0, 0]
      if (type === 'tool_call') sums[0]++
      else sums[1]++
      if (kind & ERROR) sums[2]++
      const duration = numberAt(rows, row, DURATION)
      if (duration >= 0) {
        sums[3] = addSafely(sums[3], exact(duration, 'duration'))
        sums[4]++
      }
      tools.set(tool, sums)
    }
    for (const [tool, sums] of tools) addTool.run(session, words(tool), provisional, ...sums)
    for (const [quarter, sums] of quarters) addActivity.run(session, quarter, provisional, ...sums)
  }
}

/** Prompts, answers, calls; what is neither, and what nobody typed, is not counted. */
function columnOf(kind: number): number {
  if ((kind & INJECTED) !== 0) return -1
  const role = roleOf(kind)
  return role === 'user' ? 0 : role === 'assistant' ? 1 : typeOf(kind) === 'tool_call' ? 2 : -1
}

/** Stores the result of the first pass over a source, and over each session of a source that holds several. */
import type { Db } from '../lib/sqlite/own-database.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { TimeRange } from '../model/recorded-time.ts'
import { USAGE_FIELDS } from '../model/usage.ts'
import type { ModelEstimate, ModelUsage, PartTask, ReadTask, RecordedTimes, ScannedSource } from './records.ts'
import { addOnConflict, compressText, exactInteger } from './row-encoding.ts'

/** Limit for each source and pass. */
export const MAX_ISSUES_PER_PASS = 200

export interface PutSourceResult {
  readonly source: number
  /** The session that the source contained before. */
  readonly before: number | null
  /** Whether the claim is new or has changed. */
  readonly claims: boolean
  /** The source exists but cannot be read now. Stored data of it remains. */
  readonly unreadable: boolean
  /** Sessions of other sources that this one names. */
  readonly named: readonly number[]
}

/** @param container row of the source that contains this one */
export type SourceWriter = (scanned: ScannedSource, container?: number) => PutSourceResult

export function sourceWriter(db: Db, words: StringIds): SourceWriter {
  const find = db.prepare(
    'SELECT id, session_id, claim, first_record, version, first_at, last_at FROM source WHERE path = ? AND key = ? AND agent = ? AND kept = ?',
  )
  const add = db.prepare('INSERT INTO source (path, key, agent, kept, version) VALUES (?, ?, ?, ?, 0)')
  const updateClaim = db.prepare(`UPDATE source SET claim = ?, claim_at = ?, first_record = ?, header = ? WHERE id = ?`)
  const update = db.prepare(
    `UPDATE source SET root = ?, version = ?, fingerprint = ?, size = ?, first_at = ?, last_at = ?, gone = 0, history = coalesce(?, history),
       cursor = ?, sure = ?, lines = ?, messages = ?, tools = ? WHERE id = ?`,
  )
  const setFingerprint = db.prepare('UPDATE source SET version = ?, fingerprint = ?, gone = 0 WHERE id = ?')
  const resetCursor = db.prepare('UPDATE session SET cursor = NULL WHERE id = ? AND source_id = ?')
  const deleteUsage = db.prepare('DELETE FROM usage WHERE source_id = ? AND (provisional = 1 OR ?)')
  const deleteIssues = db.prepare('DELETE FROM issue WHERE source_id = ? AND pass = 1 AND (provisional = 1 OR ?)')
  const insertUsage = db.prepare(
    `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${addOnConflict(...USAGE_FIELDS)}`,
  )
  const insertEstimate = db.prepare(
    `INSERT INTO estimate VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       ${addOnConflict('user_bytes', 'assistant_bytes')}`,
  )
  const deleteEstimates = db.prepare('DELETE FROM estimate WHERE source_id = ? AND (provisional = 1 OR ?)')
  const setContainer = db.prepare('UPDATE source SET whole = ? WHERE id = ?')
  const putIssue = issueWriter(db)
  const insertGivenName = db.prepare('INSERT OR REPLACE INTO name_given VALUES (?, ?, ?, ?)')
  const namedSession = db.prepare('SELECT id FROM session WHERE agent = ? AND native_id = ?').pluck()

  const addUsage = (source: number, used: readonly ModelUsage[], provisional: 0 | 1): void => {
    for (const { quarter, model, usage } of used)
      insertUsage.run(
        source,
        exactInteger(quarter, 'quarter'),
        words(model),
        provisional,
        exactInteger(usage.input_tokens, 'input_tokens'),
        exactInteger(usage.cached_input_tokens, 'cached_input_tokens'),
        exactInteger(usage.output_tokens, 'output_tokens'),
        exactInteger(usage.reasoning_output_tokens, 'reasoning_output_tokens'),
        exactInteger(usage.total_tokens, 'total_tokens'),
        exactInteger(usage.cache_write_tokens ?? 0, 'cache_write_tokens'),
        exactInteger(usage.cache_write_1h_tokens ?? 0, 'cache_write_1h_tokens'),
      )
  }

  const addEstimates = (source: number, estimates: readonly ModelEstimate[], provisional: 0 | 1): void => {
    for (const { quarter, model, estimate } of estimates)
      insertEstimate.run(
        source,
        exactInteger(quarter, 'quarter'),
        words(model),
        provisional,
        exactInteger(estimate.user_bytes, 'user_bytes'),
        exactInteger(estimate.assistant_bytes, 'assistant_bytes'),
      )
  }

  return (scanned, container) => {
    const location = [scanned.path, scanned.key ?? '', scanned.agent, scanned.kept ? 1 : 0]
    const known = find.get(...location) as
      | ({
          id: number
          session_id: number | null
          claim: string | null
          first_record: string | null
          version: number
        } & StoredTimes)
      | undefined
    const source = known?.id ?? Number(add.run(...location).lastInsertRowid)
    if (container !== undefined) setContainer.run(container, source)
    if (known && known.version !== scanned.version) resetCursor.run(known.session_id, known.id)
    const { session } = scanned
    const issues = [...scanned.issues, ...scanned.provisionalIssues]
    if (known && !session && issues.some(({ code }) => code === 'unreadable' || code === 'internal_error')) {
      setFingerprint.run(scanned.version, scanned.fingerprint ?? null, source)
      deleteIssues.run(source, 0)
      for (const issue of issues) putIssue(source, 1, 1, issue)
      return { source, before: known.session_id, claims: false, unreadable: true, named: [] }
    }
    if (session) updateClaim.run(session.id, session.started_at, session.first_record, JSON.stringify(session), source)
    else if (scanned.fromStart) updateClaim.run(null, null, null, null, source)
    const times = mergeTimes(scanned.fromStart ? undefined : known, scanned.times)
    update.run(
      scanned.root ?? null,
      scanned.version,
      scanned.fingerprint ?? null,
      exactInteger(scanned.size, 'size'),
      times.first,
      times.last,
      scanned.history === undefined ? null : JSON.stringify(scanned.history),
      scanned.cursor === undefined ? null : compressText(JSON.stringify(scanned.cursor)),
      JSON.stringify(scanned.sure),
      exactInteger(scanned.counts.lines, 'lines'),
      exactInteger(scanned.counts.messages, 'messages'),
      JSON.stringify(scanned.counts.tools),
      source,
    )
    deleteUsage.run(source, scanned.fromStart ? 1 : 0)
    addUsage(source, scanned.usage, 0)
    addUsage(source, scanned.provisionalUsage, 1)
    deleteEstimates.run(source, scanned.fromStart ? 1 : 0)
    addEstimates(source, scanned.estimates, 0)
    addEstimates(source, scanned.provisionalEstimates, 1)
    deleteIssues.run(source, scanned.fromStart ? 1 : 0)
    for (const [at, issue] of issues.slice(0, MAX_ISSUES_PER_PASS).entries())
      putIssue(source, 1, at < scanned.issues.length ? 0 : 1, issue)
    const named: number[] = []
    for (const { native_id, title } of scanned.titles) {
      insertGivenName.run(scanned.agent, native_id, title, source)
      named.push(...(namedSession.all(scanned.agent, native_id) as number[]))
    }
    const claims = known
      ? known.claim !== (session?.id ?? known.claim) ||
        known.first_record !== (session?.first_record ?? known.first_record) ||
        (scanned.fromStart && !session)
      : true
    return { source, before: known?.session_id ?? null, claims, unreadable: false, named }
  }
}

interface StoredTimes {
  readonly first_at: Instant | null
  readonly last_at: Instant | null
}

/** Times are ISO text, which sorts. */
function mergeTimes(known: StoredTimes | undefined, { first, last }: RecordedTimes): RecordedTimes {
  const times = new TimeRange()
  for (const at of [known?.first_at, known?.last_at, first, last]) times.add(at)
  return times
}

export type IssueWriter = (source: number, pass: 1 | 2, provisional: 0 | 1, issue: Issue) => void

export function issueWriter(db: Db): IssueWriter {
  const add = db.prepare(
    'INSERT INTO issue (source_id, pass, provisional, line, code, reason) VALUES (?, ?, ?, ?, ?, ?)',
  )
  return (source, pass, provisional, { line, code, reason }) =>
    void add.run(source, pass, provisional, line === undefined ? null : exactInteger(line, 'line'), code, reason)
}

export interface SourceParts {
  /** The source and its parts. */
  rows(source: number): readonly number[]
  /** The sessions that they contain. */
  sessions(source: number): readonly number[]
  /** Marks them as gone until they are found again. @returns their sessions */
  markGone(source: number): readonly number[]
  /** Unread sessions, one task per source. */
  tasks(): readonly ReadTask[]
}

interface PartRow extends PartTask {
  readonly whole: number
  readonly agent: string
  readonly path: string
  readonly root: string | null
  readonly whole_size: number
}

export function sourcePartsIn(db: Db): SourceParts {
  const rows = db.prepare('SELECT id FROM source WHERE id = :id OR whole = :id').pluck()
  const sessions = db
    .prepare('SELECT session_id FROM source WHERE (id = :id OR whole = :id) AND session_id IS NOT NULL')
    .pluck()
  const gone = db.prepare('UPDATE source SET gone = 1 WHERE whole = ?')
  const unread = db.prepare(
    `SELECT t.id AS session, t.name, s.id AS source, s.claim, s.size, s.whole, w.agent, w.path, w.root, w.size AS whole_size
     FROM session t JOIN source s ON s.id = t.source_id JOIN source w ON w.id = s.whole
     WHERE t.indexed = 0 AND s.gone = 0 ORDER BY t.last_at DESC, t.id DESC`,
  )
  return {
    rows: (id) => rows.all({ id }) as number[],
    sessions: (id) => sessions.all({ id }) as number[],
    markGone(id) {
      gone.run(id)
      return sessions.all({ id }) as number[]
    },
    tasks() {
      const byContainer = new Map<number, PartRow[]>()
      for (const part of unread.all() as PartRow[]) {
        const known = byContainer.get(part.whole)
        if (known) known.push(part)
        else byContainer.set(part.whole, [part])
      }
      return [...byContainer.values()].flatMap((parts) => toPartsTask(parts) ?? [])
    },
  }
}

function toPartsTask(parts: readonly PartRow[]): ReadTask | undefined {
  const [first] = parts
  if (!first) return undefined
  const { session, name, whole: container, agent, path, root, whole_size: size } = first
  return {
    session,
    name,
    source: container,
    agent,
    path,
    kept: false,
    size,
    read: 0,
    ...(root !== null && { root }),
    parts: parts.map((one) => ({
      session: one.session,
      source: one.source,
      size: one.size,
      name: one.name,
      claim: one.claim,
    })),
  }
}

/**
 * Turns each part into a source of its own. The file size is divided evenly, because the size of each part is unknown.
 */
export function partsAsSources({ parts = [], ...container }: ScannedSource): readonly ScannedSource[] {
  const size = Math.round(container.size / Math.max(1, parts.length))
  const noFindings = { titles: [], issues: [], provisionalIssues: [] }
  return parts.map((part) => ({ ...container, ...part, key: part.session.id as SessionId, size, ...noFindings }))
}

/** Strings shared by many rows: each is stored once and referred to by its id. */
export interface StringIds {
  (text: string): number
  /** The id of a string that is stored already. */
  known(text: string): number | undefined
  /** Reloads the ids after a rollback. */
  reset(): void
}

const MAX_CACHED_STRINGS = 20_000

export function stringIdsIn(db: Db, table: 'word' | 'file' | 'locator_shape', column: 'text' | 'path'): StringIds {
  const find = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`).pluck()
  const add = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`)
  const cache = new Map<string, number>()
  const remember = (text: string, id: number): number => {
    if (cache.size >= MAX_CACHED_STRINGS) cache.clear()
    cache.set(text, id)
    return id
  }
  const known = (text: string): number | undefined => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const id = find.get(text) as number | undefined
    return id === undefined ? undefined : remember(text, id)
  }
  const idOf = (text: string): number => known(text) ?? remember(text, Number(add.run(text).lastInsertRowid))
  return Object.assign(idOf, { known, reset: () => cache.clear() })
}

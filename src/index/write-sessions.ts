/** Decides which session each source contains, and which source a session is read from. */

import type { Db } from '../lib/sqlite/own-database.ts'
import { assignSessionIds, type Instant, type SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'
import { analyse } from '../search/words/analyse.ts'
import type { ProjectPaths } from './project-paths.ts'
import { exactInteger, safeSum, toStoredTime } from './row-encoding.ts'
import type { StringIds } from './write-sources.ts'

interface ClaimRow {
  readonly id: number
  readonly claim: SessionId
  readonly claim_at: Instant | null
  readonly first_record: string
  readonly session_id: number | null
}

interface SourceCandidate {
  readonly id: number
  readonly header: string
  readonly lines: number
  readonly messages: number
  readonly tools: string | null
  readonly first_at: Instant | null
  readonly last_at: Instant | null
  readonly gone: number
}

export interface SessionWriter {
  /** Resolves all claims to an id again. @returns the sessions concerned */
  settle(claim: string): readonly number[]
  /** Assigns all sessions to the projects that their directories belong to now. */
  moveProjects(revision: number): void
  /** Chooses the source of a session and stores its header. @param unread whether there is more to read */
  chooseSource(session: number, revision: number, unread: boolean): void
  /** Writes all titles again, because the table keeps the words of deleted ones. */
  eraseTitles(): void
}

export function sessionWriter(db: Db, words: StringIds, projects: ProjectPaths): SessionWriter {
  const selectClaims = db.prepare('SELECT id, claim, claim_at, first_record, session_id FROM source WHERE claim = ?')
  const findSession = db.prepare('SELECT id FROM session WHERE name = ?').pluck()
  const addSession = db.prepare(
    `INSERT INTO session (name, agent, native_id, kind, header, started_at, last_at, lines, messages, tools, input_tokens, cached_input_tokens,
       output_tokens, reasoning_output_tokens, total_tokens, gone, revision)
     VALUES (?, '', '', '', '{}', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
  )
  const assign = db.prepare('UPDATE source SET session_id = ? WHERE id = ?')
  const candidates = db.prepare(
    `SELECT id, header, lines, messages, tools, first_at, last_at, gone FROM source WHERE session_id = ? AND header IS NOT NULL
     ORDER BY gone, gone AND id = ? DESC, lines DESC, kept, path, key`,
  )
  const selectSession = db.prepare('SELECT source_id, name, title FROM session WHERE id = ?')
  const used = db.prepare(
    `SELECT ${safeSum('input_tokens')} AS i, ${safeSum('cached_input_tokens')} AS c, ${safeSum('output_tokens')} AS o,
       ${safeSum('reasoning_output_tokens')} AS r, ${safeSum('total_tokens')} AS t, ${safeSum('cache_write_tokens')} AS w,
       ${safeSum('cache_write_1h_tokens')} AS h
     FROM usage WHERE source_id = ?`,
  )
  const selectGivenName = db.prepare('SELECT title FROM name_given WHERE agent = ? AND native_id = ?').pluck()
  const update = db.prepare(
    `UPDATE session SET source_id = ?, agent = ?, native_id = ?, kind = ?, header = ?, title = ?, project = ?, started_at = ?, last_at = ?,
       lines = ?, messages = ?, tools = ?, input_tokens = ?, cached_input_tokens = ?, output_tokens = ?, reasoning_output_tokens = ?,
       total_tokens = ?, cache_write_tokens = ?, cache_write_1h_tokens = ?, parent = ?, relation = ?, gone = ?, revision = ?, indexed = CASE WHEN ? THEN 0 ELSE indexed END
     WHERE id = ?`,
  )
  const orphan = db.prepare('UPDATE session SET gone = 1, revision = ? WHERE id = ?')
  const dropModels = db.prepare('DELETE FROM model_of WHERE session_id = ?')
  const hasModel = db.prepare('INSERT OR IGNORE INTO model_of VALUES (?, ?)')
  const untitle = db.prepare('DELETE FROM titled WHERE rowid = ?')
  const retitle = db.prepare('INSERT INTO titled (rowid, title) VALUES (?, ?)')

  const sessionNamed = (name: string): number =>
    (findSession.get(name) as number | undefined) ?? Number(addSession.run(name).lastInsertRowid)

  return {
    settle(claim) {
      const claims = selectClaims.all(claim) as ClaimRow[]
      const names = assignSessionIds(
        claims.map(({ claim: id, claim_at: at, first_record: first }) => ({ id, at, first })),
      )
      const affected = new Set<number>()
      claims.forEach((one, at) => {
        const session = sessionNamed(names[at] ?? claim)
        affected.add(session)
        if (session === one.session_id) return
        if (one.session_id !== null) affected.add(one.session_id)
        assign.run(session, one.id)
      })
      return [...affected]
    },

    moveProjects(revision) {
      const move = db.prepare('UPDATE session SET project = ?, revision = ? WHERE id = ?')
      const rows = db
        .prepare("SELECT id, project, header ->> 'cwd' AS cwd FROM session WHERE project IS NOT NULL")
        .all()
      for (const { id, project, cwd } of rows as { id: number; project: string; cwd: string | null }[]) {
        const now = cwd === null ? project : projects.projectOf(cwd)
        if (now !== project) move.run(now, revision, id)
      }
    },

    eraseTitles() {
      db.exec("INSERT INTO titled (titled) VALUES ('delete-all')")
      const titles = db.prepare('SELECT id, title FROM session WHERE title IS NOT NULL').all()
      for (const { id, title } of titles as { id: number; title: string }[]) retitle.run(id, analyse(title))
    },

    chooseSource(session, revision, unread) {
      const current = selectSession.get(session) as {
        source_id: number | null
        name: SessionId
        title: string | null
      }
      const best = candidates.get(session, current.source_id) as SourceCandidate | undefined
      if (!best) return void orphan.run(revision, session)
      const stored = JSON.parse(best.header) as Session
      const header: Session = { ...stored, id: current.name, started_at: stored.started_at ?? best.first_at }
      const sum = used.get(best.id) as UsedRow
      const tools = Object.values(JSON.parse(best.tools ?? '{}') as Record<string, number>)
      const title =
        header.title ??
        (selectGivenName.get(header.agent, header.native_id) as string | undefined) ??
        header.first_prompt ??
        null
      const isUnread = unread || best.id !== current.source_id
      update.run(
        best.id,
        header.agent,
        header.native_id,
        header.kind,
        JSON.stringify(header),
        title,
        header.cwd === undefined ? null : projects.projectOf(header.cwd),
        exactInteger(toStoredTime(header.started_at), 'started_at'),
        exactInteger(toStoredTime(header.last_at ?? best.last_at ?? header.started_at), 'last_at'),
        best.lines,
        best.messages,
        tools.reduce((a, b) => a + b, 0),
        sum.i,
        sum.c,
        sum.o,
        sum.r,
        sum.t,
        sum.w,
        sum.h,
        header.parent ?? null,
        header.relation ?? null,
        best.gone,
        revision,
        isUnread ? 1 : 0,
        session,
      )
      dropModels.run(session)
      for (const model of header.models) hasModel.run(words(model), session)
      if (title === current.title) return
      if (current.title !== null) untitle.run(session)
      if (title !== null) retitle.run(session, analyse(title))
    },
  }
}

interface UsedRow {
  readonly i: number
  readonly c: number
  readonly o: number
  readonly r: number
  readonly t: number
  readonly w: number
  readonly h: number
}

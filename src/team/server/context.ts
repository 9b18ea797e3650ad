/** What the routes of a team server share. */
import type { IndexMeta } from '../../model/api/session.ts'
import { phrase } from '../../model/phrase.ts'
import type { PriceList } from '../../model/prices.ts'
import { ApiProblem } from '../../server/api-problem.ts'
import { EventBus } from '../../sync/event-bus.ts'
import type { TeamDatabase } from '../postgres/database.ts'
import { SESSION_ID } from '../protocol.ts'
import { ReadingLog } from './audit.ts'
import { readNames, readSessions, type SessionRow } from './list-sessions.ts'
import type { OpenSessions } from './open-sessions.ts'
import type { Person } from './people.ts'
import { CHANGE_CHANNEL, parseChange, type SessionChange, toBusEvents } from './sharing.ts'
import { sumOf } from './sum-of-column.ts'
import { readTeam, type Team } from './team-settings.ts'

/** How long the name of a new person or a change of the policy may stay unnoticed. */
const REMEMBER_MS = 2000

export class TeamContext {
  readonly database: TeamDatabase
  readonly open: OpenSessions
  readonly readings: ReadingLog
  readonly version: string
  readonly prices: () => Promise<PriceList>
  /** Sessions that changed. Each page asks the database whether its person may know. */
  readonly changes = new EventBus()
  #team: { readonly team: Team; readonly at: number } | undefined
  #names: { readonly names: ReadonlyMap<number, string>; readonly at: number } | undefined

  constructor(database: TeamDatabase, open: OpenSessions, version: string, prices: () => Promise<PriceList>) {
    this.database = database
    this.open = open
    this.version = version
    this.prices = prices
    this.readings = new ReadingLog(database)
  }

  async start(): Promise<void> {
    await this.database.listen(
      CHANGE_CHANNEL,
      (text) => this.#change(parseChange(text)),
      // What was said meanwhile is lost: every page loads again.
      () => this.changes.publish([{ kind: 'hello', epoch: null, revision: 0, reset: true }]),
    )
  }

  async team(): Promise<Team> {
    const now = performance.now()
    if (!this.#team || now - this.#team.at > REMEMBER_MS)
      this.#team = { team: await this.database.asServer(readTeam), at: now }
    return this.#team.team
  }

  forgetTeam(): void {
    this.#team = undefined
    this.#names = undefined
  }

  async names(): Promise<ReadonlyMap<number, string>> {
    const now = performance.now()
    if (!this.#names || now - this.#names.at > REMEMBER_MS)
      this.#names = { names: await readNames(this.database), at: now }
    return this.#names.names
  }

  /** A session that the person may read; otherwise it does not exist for them. */
  async session(person: Person, id: string): Promise<SessionRow> {
    const key = SESSION_ID.exec(id)?.[1]
    const [row] = key === undefined ? [] : await this.database.asPerson(person.id, (db) => readSessions(db, [key]))
    if (row && row.shared !== 'usage') return row
    if (key !== undefined && this.open.has(key) && !row) {
      const isThere = await this.database.asServer((db) =>
        db.first('SELECT 1 FROM session WHERE session_key = $1', [BigInt(`0x${key}`).toString()]),
      )
      if (!isThere) await this.open.close(key)
    }
    throw new ApiProblem('session_not_found', phrase(`Session ${id} not found.`, `会話 ${id} が見つかりません。`))
  }

  async index(person: Person): Promise<IndexMeta> {
    const { id } = await this.team()
    const counted = await this.database.asPerson(person.id, (db) =>
      db.first<{ revision: number | null; sessions: number; bytes: number }>(
        `SELECT max(revision) AS revision, count(*) FILTER (WHERE is_complete AND shared <> 'usage') AS sessions,
           ${sumOf('size_bytes')} AS bytes FROM session`,
      ),
    )
    return {
      epoch: id,
      revision: counted?.revision ?? 0,
      sessions: counted?.sessions ?? 0,
      source_bytes: counted?.bytes ?? 0,
      index_bytes: 0,
      unread: 0,
    }
  }

  #change(change: SessionChange): void {
    const { key } = change
    this.changes.publish(toBusEvents(change))
    if (!this.open.has(key)) return
    // A session that was withdrawn leaves the folder of this server at once.
    void this.database
      .asServer((db) =>
        db.first(`SELECT 1 FROM session WHERE session_key = $1 AND shared <> 'usage'`, [BigInt(`0x${key}`).toString()]),
      )
      .then((row) => (row ? undefined : this.open.close(key)))
      .catch(() => {})
  }
}

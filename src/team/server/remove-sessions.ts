/** Takes sessions out again: withdrawal by their owner, retention by the policy, and people who leave. */

import type { NormalizedMessage } from '../../model/normalized.ts'
import { searchableTextOf } from '../../model/searchable-text.ts'
import { findTouchedFiles } from '../../model/touched-files.ts'
import { keyFromNumber, keyToNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { termOf, wordsOfText } from '../search-terms.ts'
import { addAudit } from './audit.ts'
import { signOutEverywhere } from './people.ts'
import { AUDIENCE_TABLES, notifyChange } from './sharing.ts'
import { forgetWords } from './store-session.ts'

const DERIVED = [...AUDIENCE_TABLES.filter((table) => table !== 'session'), 'checkpoint'] as const

/**
 * Removes a session and everything that was made of it. A tombstone keeps its devices from sending it again.
 * @returns false if the person has no such session
 */
export async function withdrawSession(database: TeamDatabase, person: number, key: string): Promise<boolean> {
  const number = keyToNumber(key)
  const words = await database.asPerson(person, (db) => collectWords(db, [number]))
  const isRemoved = await database.asPerson(person, async (db) => {
    for (const table of DERIVED) await db.run(`DELETE FROM ${table} WHERE session_key = $1`, [number])
    const removed = await db.first<{ audience: number }>(
      'DELETE FROM session WHERE session_key = $1 RETURNING audience',
      [number],
    )
    await db.run('INSERT INTO withdrawn (session_key, person_id) VALUES ($1, me()) ON CONFLICT DO NOTHING', [number])
    await notifyChange(db, key, removed?.audience)
    return removed !== undefined
  })
  await removeUnusedWords(database, words)
  return isRemoved
}

/** The person sends the session again: the tombstone is removed. */
export const allowAgain = (database: TeamDatabase, person: number, key: string): Promise<number> =>
  database.asPerson(person, (db) => db.run('DELETE FROM withdrawn WHERE session_key = $1', [keyToNumber(key)]))

const BATCH_ROWS = 500
const RECENT_ROWS = 5000

/** The words of sessions, so that those which occur nowhere else can be removed. */
async function collectWords(db: Transaction, numbers: readonly string[]): Promise<ReadonlySet<string>> {
  const words = new Set<string>()
  for (let from = 0; ; from += BATCH_ROWS) {
    const rows = await db.rows<{ body: string }>(
      'SELECT body FROM message WHERE session_key = ANY ($1::bigint[]) ORDER BY session_key, at, seq LIMIT $2 OFFSET $3',
      [numbers, BATCH_ROWS, from],
    )
    for (const { body } of rows) {
      const message = JSON.parse(body) as NormalizedMessage
      const texts = [...Object.values(searchableTextOf(message)), ...findTouchedFiles(message).map(({ path }) => path)]
      for (const text of texts) for (const word of wordsOfText(text)) words.add(word)
    }
    if (rows.length < BATCH_ROWS) return words
  }
}

async function removeUnusedWords(database: TeamDatabase, words: ReadonlySet<string>): Promise<void> {
  if (words.size === 0) return
  // Most words are frequent: they are among the newest messages, and need no search.
  const recent = await database.asServer((db) =>
    db.rows<{ term: number }>(
      `SELECT DISTINCT unnest(m.terms) AS term FROM (SELECT terms FROM message ORDER BY at DESC LIMIT ${RECENT_ROWS}) m`,
    ),
  )
  const frequent = new Set(recent.map(({ term }) => term))
  const all = [...words].filter((word) => !frequent.has(termOf(word)))
  for (let at = 0; at < all.length; at += BATCH_ROWS) {
    const some = all.slice(at, at + BATCH_ROWS)
    await database.asServer((db) =>
      db.run(
        `DELETE FROM word w WHERE w.text = ANY ($1) AND NOT EXISTS (SELECT 1 FROM message m WHERE m.terms @> ARRAY[w.hash])`,
        [some],
      ),
    )
  }
  forgetWords(database)
}

/** As the server, for sessions of every owner. */
async function eraseSessions(database: TeamDatabase, numbers: readonly string[]): Promise<void> {
  if (numbers.length === 0) return
  const words = await database.asServer((db) => collectWords(db, numbers))
  await database.asServer(async (db) => {
    for (const table of DERIVED) await db.run(`DELETE FROM ${table} WHERE session_key = ANY ($1::bigint[])`, [numbers])
    const removed = await db.rows<{ number: string; audience: number }>(
      'DELETE FROM session WHERE session_key = ANY ($1::bigint[]) RETURNING session_key::text AS number, audience',
      [numbers],
    )
    for (const { number, audience } of removed) await notifyChange(db, keyFromNumber(number), audience)
  })
  await removeUnusedWords(database, words)
}

const SESSIONS_PER_PASS = 100

/** Erases what is older than the policy allows. @returns how many sessions */
export async function applyRetention(database: TeamDatabase, days: number | null): Promise<number> {
  if (days === null) return 0
  let erased = 0
  for (;;) {
    const old = await database.asServer((db) =>
      db.rows<{ number: string }>(
        `SELECT session_key::text AS number FROM session
         WHERE coalesce(last_at, pushed_at) < now() - make_interval(days => $1) LIMIT $2`,
        [days, SESSIONS_PER_PASS],
      ),
    )
    if (old.length === 0) break
    await eraseSessions(
      database,
      old.map(({ number }) => number),
    )
    erased += old.length
  }
  await dropEmptyMonths(database, days)
  if (erased > 0) await database.asServer((db) => addAudit(db, { action: 'retention', detail: `${erased}` }))
  return erased
}

/** A month in which nothing is left takes no space. */
async function dropEmptyMonths(database: TeamDatabase, days: number): Promise<void> {
  await database.asServer(async (db) => {
    const months = await db.rows<{ name: string }>(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'message'::regclass AND to_date(substr(c.relname, 9), 'YYYYMM') + interval '2 months' < now() - make_interval(days => $1)`,
      [days],
    )
    for (const { name } of months) {
      // Truncating gives the space back and keeps the table: another server may know that it is there.
      if (!(await db.first(`SELECT 1 FROM ${name} LIMIT 1`))) await db.run(`TRUNCATE ${name}`)
    }
  })
}

/**
 * Ends a membership. What nobody else may read is always erased: after its owner, nobody could.
 * @param erase the person's sessions too
 * @param by who does it, for the audit
 */
export async function leaveTeam(database: TeamDatabase, person: number, erase: boolean, by: number): Promise<number> {
  const first = await eraseOwned(database, person, erase)
  await database.asServer(async (db) => {
    await db.run('UPDATE device SET revoked_at = coalesce(revoked_at, now()) WHERE person_id = $1', [person])
    await signOutEverywhere(db, person)
  })
  // What a device of theirs sent meanwhile.
  const rest = await eraseOwned(database, person, erase)
  await database.asServer(async (db) => {
    await db.run('DELETE FROM audience_member WHERE person_id = $1', [person])
    await db.run('DELETE FROM withdrawn WHERE person_id = $1', [person])
    // A person who erases everything leaves no address behind either.
    await db.run(
      erase
        ? `UPDATE person SET left_at = now(), email = NULL, subject = NULL, name = 'left ' || id WHERE id = $1`
        : 'UPDATE person SET left_at = now(), email = NULL, subject = NULL WHERE id = $1',
      [person],
    )
    await addAudit(db, { action: 'leave', person: by, owner: person, detail: erase ? 'erased' : 'kept' })
  })
  return erase ? first.erased + rest.erased : rest.kept
}

async function eraseOwned(
  database: TeamDatabase,
  person: number,
  all: boolean,
): Promise<{ readonly erased: number; readonly kept: number }> {
  const owned = await database.asServer((db) =>
    db.rows<{ number: string; shared: string }>(
      'SELECT session_key::text AS number, shared FROM session WHERE person_id = $1',
      [person],
    ),
  )
  const doomed = owned.flatMap(({ number, shared }) => (all || shared === 'nobody' ? number : []))
  for (let at = 0; at < doomed.length; at += SESSIONS_PER_PASS)
    await eraseSessions(database, doomed.slice(at, at + SESSIONS_PER_PASS))
  return { erased: doomed.length, kept: owned.length - doomed.length }
}

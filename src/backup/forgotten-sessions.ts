/** Deletes a session from the backup and remembers that it is forgotten. */

import type { Db } from '../lib/sqlite/own-database.ts'
import type { Capture } from '../model/capture.ts'
import { type Instant, makeSessionId, type SessionId } from '../model/ids.ts'
import type { BackupTables } from './backup-tables.ts'

/** Identifies a session by its claimed id and its first record. */
export interface ForgottenSession {
  readonly session: SessionId
  readonly claim: string
  readonly first_record: string
}

export interface ForgottenRecord extends ForgottenSession {
  readonly at: Instant
  /** Items of an exchange folder that held the session, if it was erased. */
  readonly erased?: readonly string[]
}

export function readForgotten(db: Db): readonly ForgottenRecord[] {
  const sql = 'SELECT session, claim, first_record, forgotten_at AS at, erased FROM forgotten ORDER BY session'
  const rows = db.prepare(sql).all() as (Omit<ForgottenRecord, 'erased'> & { readonly erased: string | null })[]
  return rows.map(({ erased, ...one }) => ({
    ...one,
    ...(erased !== null && { erased: JSON.parse(erased) as readonly string[] }),
  }))
}

/**
 * Whether the row begins with a forgotten session. A row with the same id but another first record is a different
 * session.
 */
export function isForgottenRow({ db }: BackupTables, { agent, native_id, entries }: Capture): boolean {
  const plain = makeSessionId(agent, native_id)
  const named = readForgotten(db).filter(({ claim }) => claim === plain || claim.startsWith(`${plain}~`))
  const first = named.length > 0 ? entries[0]?.identity() : undefined
  return first !== undefined && named.some(({ first_record }) => first_record === first)
}

/** Also deletes everything that no other session needs. */
export function forgetBackup(
  tables: BackupTables,
  { session, claim, first_record }: ForgottenSession,
  at: Instant,
  erased?: readonly string[],
): void {
  const { db, generations } = tables
  db.prepare(
    `INSERT INTO forgotten (session, claim, first_record, forgotten_at, erased) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session) DO UPDATE SET claim = excluded.claim, first_record = excluded.first_record,
       forgotten_at = excluded.forgotten_at, erased = coalesce(excluded.erased, erased)`,
  ).run(session, claim, first_record, at, erased === undefined ? null : JSON.stringify(erased))
  const generation = generations.named(session)
  if (!generation) return
  const { id, conversation_id: conversation } = generation
  db.prepare('UPDATE row SET generation_id = NULL, fingerprint = NULL WHERE generation_id = ?').run(id)
  const parts = 'SELECT piece_id FROM part WHERE layout_id IN (SELECT id FROM layout WHERE generation_id = ?)'
  const pieces = new Set(db.prepare(parts).pluck().all(id) as number[])
  db.prepare('DELETE FROM layout WHERE generation_id = ?').run(id)
  db.prepare('DELETE FROM generation WHERE id = ?').run(id)
  if (conversation !== null) for (const piece of dropUnneededEntries(tables, conversation)) pieces.add(piece)
  for (const piece of pieces) tables.pieces.drop(piece)
}

/** @returns the pieces of the deleted entries */
function dropUnneededEntries({ db, entries, generations }: BackupTables, conversation: number): readonly number[] {
  const tree = entries.treeOf(conversation)
  const remaining = generations.ofConversation(conversation)
  const needed = new Set(remaining.flatMap(({ head_id }) => tree.path(head_id).map(({ id }) => id)))
  const all = db.prepare('SELECT id FROM entry WHERE conversation_id = ? ORDER BY id DESC').pluck().all(conversation)
  const pieces: number[] = []
  const drops = ['DELETE FROM spelling WHERE entry_id = ?', 'DELETE FROM entry WHERE id = ?'].map((sql) =>
    db.prepare(sql),
  )
  // Children first, because they refer to their parents.
  for (const id of (all as number[]).filter((one) => !needed.has(one))) {
    const entry = tree.entry(id)
    if (entry) pieces.push(...entries.spellings(entry))
    for (const drop of drops) drop.run(id)
  }
  if (remaining.length === 0) db.prepare('DELETE FROM conversation WHERE id = ?').run(conversation)
  return pieces
}

export const unforgetSession = ({ db }: BackupTables, session: SessionId): boolean =>
  db.prepare('DELETE FROM forgotten WHERE session = ?').run(session).changes > 0

/** What can be wrong with another program's database, as values, each with a sentence that says what to do next. */

import { STORE_PROBLEMS } from '../../model/code-texts/read-problems.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'

export type DatabaseProblemKind = keyof typeof STORE_PROBLEMS

export interface DatabaseProblem {
  readonly kind: DatabaseProblemKind
  /** For a person. Never a row's content. */
  readonly reason: Phrase
}

export type DatabaseOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: DatabaseProblem }

export const toDatabaseProblem = (kind: DatabaseProblemKind, detail?: string): DatabaseProblem => {
  const { en, ja } = STORE_PROBLEMS[kind]
  return { kind, reason: detail === undefined ? { en, ja } : phrase(`${en} (${detail})`, `${ja}（${detail}）`) }
}

export const databaseFailure = (
  kind: DatabaseProblemKind,
): { readonly ok: false; readonly problem: DatabaseProblem } => ({
  ok: false,
  problem: toDatabaseProblem(kind),
})

/** Codes of SQLite (each with its extended ones) and of the system that the world is to blame for. */
const KIND_BY_CODE: readonly (readonly [code: RegExp, kind: DatabaseProblemKind])[] = [
  [/^(?:ENOENT|ENOTDIR)$/, 'missing'],
  [/^SQLITE_NOTADB$|^EISDIR$/, 'not_a_database'],
  [/^EFTYPE$/, 'special'],
  // A damaged record may claim to be larger than any value can be.
  [/^SQLITE_(?:CORRUPT|TOOBIG)/, 'corrupt'],
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL|SCHEMA)|^EBUSY$/, 'busy'],
  [/^SQLITE_(?:PERM|READONLY)|^(?:EACCES|EPERM|EROFS)$/, 'no_permission'],
  [/^SQLITE_FULL$|^(?:ENOSPC|EDQUOT)$/, 'no_room'],
  [/^SQLITE_(?:IOERR|CANTOPEN)|^(?:EIO|ESTALE|ELOOP|ENAMETOOLONG|ENOTCONN|EHOSTDOWN|ETIMEDOUT)$/, 'unreadable'],
]

const SCHEMA_MISMATCH = /^no such (?:table|column|module|function|collation)/

/** Throws the error again when it is none of the world's. */
export function databaseProblemOf(error: unknown): DatabaseProblem {
  const code = sqliteCodeOf(error)
  if (code === 'SQLITE_ERROR' && error instanceof Error && SCHEMA_MISMATCH.test(error.message))
    return toDatabaseProblem('other_schema', error.message)
  const kind = KIND_BY_CODE.find(([pattern]) => pattern.test(code))?.[1]
  if (!kind) throw error
  return toDatabaseProblem(kind, kind === 'unreadable' ? code : undefined)
}

export function sqliteCodeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** What can be wrong with another program's database, as values, each with a sentence that says what to do next. */

export type ProblemKind =
  | 'missing'
  | 'empty'
  | 'not_a_database'
  | 'cut_short'
  | 'corrupt'
  | 'busy'
  | 'no_permission'
  | 'replaced'
  | 'other_schema'
  | 'unreadable'
  | 'no_room'

export interface Problem {
  readonly kind: ProblemKind
  /** For a person. Never a row's content. */
  readonly reason: string
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem }

const reasons = {
  missing: 'There is no such file. Check the path, or start the program that makes it.',
  empty: 'The file is empty: its program has written nothing yet. Try again later.',
  not_a_database: 'It is not an SQLite database, or it is encrypted. Check that the path names the right file.',
  cut_short: 'The file is shorter than its own header says. Get a whole copy of it.',
  corrupt: 'The database is damaged here; other rows may still be read. `sqlite3 FILE .recover` may save more.',
  busy: 'Another program keeps it locked. Try again when that program is idle or closed.',
  no_permission: 'Permission denied. Run as the user whom the file belongs to, or change its mode.',
  replaced: 'The file was replaced by another one meanwhile. Open it again.',
  other_schema:
    'It lacks what was looked for. Check that the file belongs to this program, in a version that is supported.',
  unreadable: 'The system could not read it. Check the disk or the network it lies on.',
  no_room: 'The disk is full. Free some space, or set TMPDIR to a folder with more.',
} as const satisfies Record<ProblemKind, string>

export const problem = (kind: ProblemKind, detail?: string): Problem => ({
  kind,
  reason: detail === undefined ? reasons[kind] : `${reasons[kind]} (${detail})`,
})

export const failed = (kind: ProblemKind): { readonly ok: false; readonly problem: Problem } => ({
  ok: false,
  problem: problem(kind),
})

/** Codes of SQLite (each with its extended ones) and of the system that the world is to blame for. */
const kinds: readonly (readonly [code: RegExp, kind: ProblemKind])[] = [
  [/^(?:ENOENT|ENOTDIR)$/, 'missing'],
  [/^SQLITE_NOTADB$|^EISDIR$/, 'not_a_database'],
  // A damaged record may claim to be larger than any value can be.
  [/^SQLITE_(?:CORRUPT|TOOBIG)/, 'corrupt'],
  [/^SQLITE_(?:BUSY|LOCKED|PROTOCOL|SCHEMA)|^EBUSY$/, 'busy'],
  [/^SQLITE_(?:PERM|READONLY)|^(?:EACCES|EPERM|EROFS)$/, 'no_permission'],
  [/^SQLITE_FULL$|^(?:ENOSPC|EDQUOT)$/, 'no_room'],
  [/^SQLITE_(?:IOERR|CANTOPEN)|^(?:EIO|ESTALE)$/, 'unreadable'],
]

const LACKS = /^no such (?:table|column|module|function|collation)/

/** Throws the error again when it is none of the world's. */
export function problemOf(error: unknown): Problem {
  const code = codeOf(error)
  if (code === 'SQLITE_ERROR' && error instanceof Error && LACKS.test(error.message))
    return problem('other_schema', error.message)
  const kind = kinds.find(([pattern]) => pattern.test(code))?.[1]
  if (!kind) throw error
  return problem(kind, kind === 'unreadable' ? code : undefined)
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

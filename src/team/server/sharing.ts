/** Who may read a session, as an audience that its rows carry. */
import type { LiveEvent } from '../../model/api/machine.ts'
import { AppError } from '../../model/error.ts'
import { keyToNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import type { Sharing } from '../protocol.ts'

/** Tables whose rows carry the audience of their session. */
export const AUDIENCE_TABLES = ['session', 'message', 'usage', 'tool_use', 'activity'] as const

/** The audience for a sharing, created when it is used first. Runs as the server: people do not see audiences. */
export async function audienceOf(
  db: Transaction,
  person: number,
  shared: Sharing,
  names: readonly string[] = [],
): Promise<number> {
  if (shared === 'team' || shared === 'usage')
    return idOf(await db.first(`SELECT id FROM audience WHERE kind = 'team'`))
  if (shared === 'nobody')
    return idOf(await db.first(`SELECT id FROM audience WHERE kind = 'own' AND person_id = $1`, [person]))
  const people = await findPeople(db, names)
  const named = [...new Set(people)].filter((id) => id !== person).sort((a, b) => a - b)
  if (named.length === 0)
    throw new AppError(
      'bad_usage',
      'Name at least one other person of the team.',
      'チームのほかの人を 1 人以上指定してください。',
    )
  const added = await db.first<{ id: number }>(
    `INSERT INTO audience (kind, person_id, named) VALUES ('named', $1, $2) ON CONFLICT DO NOTHING RETURNING id`,
    [person, named],
  )
  const id = idOf(
    added ??
      (await db.first(`SELECT id FROM audience WHERE kind = 'named' AND person_id = $1 AND named = $2`, [
        person,
        named,
      ])),
  )
  await db.run(
    'INSERT INTO audience_member (person_id, audience_id) SELECT unnest($1::int[]), $2 ON CONFLICT DO NOTHING',
    [[person, ...named], id],
  )
  return id
}

const idOf = (row: object | undefined): number => {
  const id = (row as { id?: number } | undefined)?.id
  if (id === undefined) throw new Error('an audience is missing')
  return id
}

async function findPeople(db: Transaction, names: readonly string[]): Promise<readonly number[]> {
  const found = await db.rows<{ id: number; name: string; email: string | null }>(
    'SELECT id, name, email FROM person WHERE left_at IS NULL AND (lower(name) = ANY ($1) OR email = ANY ($1))',
    [names.map((name) => name.toLowerCase())],
  )
  const missing = names.find(
    (name) => !found.some((one) => one.name.toLowerCase() === name.toLowerCase() || one.email === name.toLowerCase()),
  )
  if (missing !== undefined)
    throw new AppError(
      'not_found',
      `Nobody in the team is called ${missing}.`,
      `チームに ${missing} という人はいません。`,
    )
  return found.map(({ id }) => id)
}

/** Changes who may read a session. With `usage`, everything but its numbers is erased. */
export async function shareSession(
  database: TeamDatabase,
  person: number,
  key: string,
  shared: Sharing,
  names: readonly string[] | undefined,
): Promise<boolean> {
  const audience = await database.asServer((db) => audienceOf(db, person, shared, names))
  return database.asPerson(person, async (db) => {
    const number = keyToNumber(key)
    const before = await db.first<{ shared: Sharing; audience: number }>(
      'SELECT shared, audience FROM session WHERE session_key = $1 AND person_id = me() FOR UPDATE',
      [number],
    )
    if (!before) return false
    await db.run(
      `UPDATE session SET shared = $2, audience = $3, revision = nextval('revision') WHERE session_key = $1`,
      [number, shared, audience],
    )
    if (shared === 'usage') await eraseText(db, number)
    for (const table of AUDIENCE_TABLES)
      await db.run(`UPDATE ${table} SET audience = $2 WHERE session_key = $1 AND person_id = me() AND audience <> $2`, [
        number,
        audience,
      ])
    await notifyChange(db, key, before.shared === 'usage' ? undefined : before.audience)
    return true
  })
}

/** Everything but the numbers. @param number key of the session */
async function eraseText(db: Transaction, number: string): Promise<void> {
  await db.run('DELETE FROM message WHERE session_key = $1', [number])
  await db.run('DELETE FROM checkpoint WHERE session_key = $1', [number])
  await db.run(
    `UPDATE session SET title = NULL, first_prompt = NULL, title_terms = '{}', header = NULL, branch = NULL, cwd = NULL,
       stored = 0, id_chain = '', text_chain = '', generation = generation + 1 WHERE session_key = $1`,
    [number],
  )
}

export const CHANGE_CHANNEL = 'fumi_change'

/**
 * Tells every server, after the transaction, that a session changed. The message contains nothing else.
 * @param before the audience that could read it until now, if others may read it from now on, or nobody
 */
export const notifyChange = (db: Transaction, key: string, before?: number): Promise<number> =>
  db.run('SELECT pg_notify($1, $2)', [CHANGE_CHANNEL, before === undefined ? key : `${key} ${before}`])

/** A session changed; or it is withdrawn, erased or shared with others, and those of an audience may have seen it. */
export interface SessionChange {
  readonly key: string
  readonly before: number | undefined
}

/** Changes as events of the bus, which keeps the last of equal ones; that a session left an audience is always published. */
export const toBusEvents = ({ key, before }: SessionChange): readonly LiveEvent[] => [
  { kind: 'change', session: key, revision: 0 },
  ...(before === undefined ? [] : [{ kind: 'removed' as const, session: `${key} ${before}`, revision: 0 }]),
]

export function parseChange(text: string): SessionChange {
  const [key = '', before] = text.split(' ', 2)
  return { key, before: before === undefined ? undefined : Number(before) }
}

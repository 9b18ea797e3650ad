/** Creates and upgrades the tables of a team. Several servers may start at once: one of them does it. */
import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { AppError } from '../../model/error.ts'
import type { TeamDatabase, Transaction } from './database.ts'
import { PERSON_ROLE } from './person-role.ts'
import { MIGRATIONS } from './schema.ts'

/** `fumi` in ASCII. */
const MIGRATION_LOCK = 0x66756d69

export async function migrate(database: TeamDatabase): Promise<void> {
  await createPersonRole(database)
  await database.asServer(async (db) => {
    await db.run('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await db.run(
      'CREATE TABLE IF NOT EXISTS migration (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    )
    const { version } =
      (await db.first<{ version: number | null }>('SELECT max(version) AS version FROM migration')) ?? {}
    const from = version ?? 0
    if (from > MIGRATIONS.length)
      throw new AppError(
        'unusable_data',
        `The database of the team was upgraded by a newer fumibako (version ${from}, this one knows ${MIGRATIONS.length}). Update this server.`,
        `チームのデータベースは、より新しい fumibako で更新されています（版 ${from}。このサーバーが扱えるのは ${MIGRATIONS.length} まで）。サーバーを更新してください。`,
      )
    for (let next = from; next < MIGRATIONS.length; next++) {
      await db.run(MIGRATIONS[next] ?? '')
      await db.run('INSERT INTO migration (version) VALUES ($1)', [next + 1])
    }
    if (from === 0) await addFirstSettings(db)
    await grantSchema(db)
  })
}

async function addFirstSettings(db: Transaction): Promise<void> {
  await db.run('INSERT INTO setting (name, value) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING', [
    'team_id',
    randomUUID(),
    'token_key',
    randomBytes(32).toString('base64url'),
  ])
}

async function grantSchema(db: Transaction): Promise<void> {
  const { schema } = (await db.first<{ schema: string }>('SELECT quote_ident(current_schema()) AS schema')) ?? {
    schema: 'public',
  }
  await db.run(`GRANT USAGE ON SCHEMA ${schema} TO ${PERSON_ROLE}`)
}

const DUPLICATE_OBJECT = new Set(['42710', '23505', 'XX000'])
const NOT_PERMITTED = '42501'

/** Roles belong to the server of the database, not to one database; another one may have created it. */
async function createPersonRole(database: TeamDatabase): Promise<void> {
  try {
    await database.asServer(async (db) => {
      if (!(await db.first('SELECT 1 FROM pg_roles WHERE rolname = $1', [PERSON_ROLE])))
        await db.run(`CREATE ROLE ${PERSON_ROLE} NOLOGIN NOBYPASSRLS`)
    })
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
    if (code === NOT_PERMITTED) throw roleNeeded()
    if (!DUPLICATE_OBJECT.has(code)) throw error
  }
  try {
    await database.asServer(async (db) => {
      if (await db.first(`SELECT 1 WHERE pg_has_role(current_user, $1, 'MEMBER')`, [PERSON_ROLE])) return
      await db.run(`GRANT ${PERSON_ROLE} TO CURRENT_USER`)
    })
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NOT_PERMITTED) throw roleNeeded()
    if (!(error instanceof pg.DatabaseError && DUPLICATE_OBJECT.has(error.code ?? ''))) throw error
  }
}

const roleNeeded = (): AppError =>
  new AppError(
    'no_permission',
    `The role ${PERSON_ROLE} is missing and this user cannot create it. Let an administrator run: CREATE ROLE ${PERSON_ROLE} NOLOGIN; GRANT ${PERSON_ROLE} TO <user>;`,
    `ロール ${PERSON_ROLE} がなく、このユーザーでは作れません。管理者が次を実行してください: CREATE ROLE ${PERSON_ROLE} NOLOGIN; GRANT ${PERSON_ROLE} TO <ユーザー>;`,
  )

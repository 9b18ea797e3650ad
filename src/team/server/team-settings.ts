/** The name and the policy of a team, and its secrets, as the database keeps them. */
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { DEFAULT_POLICY, POLICY, type Policy } from '../protocol.ts'

export interface Team {
  readonly id: string
  readonly name: string
  /** Signs tokens. Never leaves the server. */
  readonly tokenKey: string
  readonly policy: Policy
}

export async function readTeam(db: Transaction): Promise<Team> {
  const rows = await db.rows<{ name: string; value: string }>('SELECT name, value FROM setting')
  const settings = new Map(rows.map(({ name, value }) => [name, value]))
  return {
    id: settings.get('team_id') ?? '',
    name: settings.get('team_name') ?? 'team',
    tokenKey: settings.get('token_key') ?? '',
    policy: POLICY.parse({ ...DEFAULT_POLICY, ...(JSON.parse(settings.get('policy') ?? '{}') as object) }),
  }
}

const putSetting = (db: Transaction, name: string, value: string): Promise<number> =>
  db.run('INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value', [
    name,
    value,
  ])

export const nameTeam = (database: TeamDatabase, name: string): Promise<number> =>
  database.asServer((db) => putSetting(db, 'team_name', name))

export const changePolicy = (
  database: TeamDatabase,
  change: { readonly [name in keyof Policy]?: Policy[name] | undefined },
): Promise<Policy> =>
  database.asServer(async (db) => {
    await db.run('SELECT 1 FROM setting WHERE name = $1 FOR UPDATE', ['team_id'])
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
    const policy = POLICY.parse({ ...(await readTeam(db)).policy, ...given })
    await putSetting(db, 'policy', JSON.stringify(policy))
    return policy
  })

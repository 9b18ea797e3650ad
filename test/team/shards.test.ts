/** Sessions spread over three databases: the search asks each, and answers as one database does. And what docs/team.md says about engines. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { TeamDatabase } from '../../src/team/postgres/database.ts'
import { migrate } from '../../src/team/postgres/migrate.ts'
import { termOf, wordsOfText } from '../../src/team/search-terms.ts'
import { searchTeam } from '../../src/team/server/search-messages.ts'
import { onCleanup } from '../support/cleanup.ts'
import { testDatabase, withoutPostgres } from '../support/postgres.ts'
import { fillTeam } from '../support/team-data.mjs'

describe.skipIf(withoutPostgres)(`a search over several databases ${withoutPostgres ?? ''}`, () => {
  test('returns the same messages in the same order, page after page', async () => {
    const databases: TeamDatabase[] = []
    for (let at = 0; at < 4; at++) {
      const database = new TeamDatabase(await testDatabase(), { connections: 2 })
      onCleanup(() => database.close())
      await migrate(database)
      databases.push(database)
    }
    const [one, ...shards] = databases
    if (!one) throw new Error('no database')
    const options = { messages: 1200, sessions: 40, people: 4 }
    const termsOf = (text: string): readonly number[] => Array.from(wordsOfText(text), termOf)
    await fillTeam(one, options, () => true, termsOf)
    for (const [at, shard] of shards.entries())
      await fillTeam(shard, options, (session) => session % shards.length === at, termsOf)
    const people = new Map([[1, 'p1']])
    // What the database finds is what matches: words with digits are also looked up in their parts, together.
    for (const query of ['word12', 'word12 word13', 'word12*']) {
      const answer = await searchTeam([one], 1, query, { people, limit: 15, patience: 0 })
      if (answer.kind !== 'found') throw new Error(answer.what)
      expect([answer.hits.length, answer.isComplete], query).toEqual([15, true])
    }
    for (const query of ['common', 'rare7', 'word12 word13', '請求', '"common word12"']) {
      const pages: [string[], string[]] = [[], []]
      for (const [which, all] of [[one], shards].entries())
        for (let after: number | undefined, page = 0; page < 4; page++) {
          const answer = await searchTeam(all, 1, query, { people, limit: 15, after, patience: 60_000 })
          if (answer.kind !== 'found') throw new Error(answer.what)
          pages[which]?.push(...answer.hits.map((hit) => `${hit.session_id} ${hit.message_id}`))
          if (answer.next === undefined) break
          after = answer.next
        }
      expect(pages[0].length, query).toBeGreaterThan(0)
      expect(pages[1], query).toEqual(pages[0])
    }
  })

  test('the statements of docs/team.md for Citus and for partitions fit the tables', async () => {
    const url = await testDatabase()
    const database = new TeamDatabase(url, { connections: 1 })
    onCleanup(() => database.close())
    await migrate(database)
    await database.asServer((db) => db.run(`SELECT add_month('2026-01-15')`))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onCleanup(() => client.end())
    await client.query(CITUS_RULES)
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'team.md'), 'utf8')
    const blocks = Array.from(page.matchAll(/```sql\n([^`]+)```/g), ([, block = '']) => block)
    const [citus = '', partitions = ''] = [/create_distributed_table/, /TABLESPACE/].map((what) =>
      blocks.find((block) => what.test(block)),
    )
    await expect(client.query(`SELECT create_distributed_table('session', 'session_key')`)).rejects.toThrow('subquery')
    await client.query(citus)
    const { rows } = await client.query<{ name: string; kind: string }>('SELECT name, kind FROM spread ORDER BY name')
    const small = ['audience_member', 'person', 'project']
    const large = ['activity', 'checkpoint', 'message', 'session', 'tool_use', 'usage', 'withdrawn']
    expect(rows).toEqual(
      [
        ...small.map((name) => ({ name, kind: 'reference' })),
        ...large.map((name) => ({ name, kind: 'distributed' })),
      ].sort((a, b) => (a.name < b.name ? -1 : 1)),
    )
    await expect(client.query(`SELECT create_distributed_table('audit', 'session_key')`)).rejects.toThrow('unique key')
    // Only an administrator may create a tablespace: the default one stands for it.
    await client.query(
      partitions.replaceAll(/\b(?:CREATE TABLESPACE .*)|--.*/g, '').replaceAll(/\barchive\b/g, 'pg_default'),
    )
    const plan = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT 1 FROM message WHERE at >= '2026-01-01+00' AND at < '2026-02-01+00'`,
    )
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/ on message_202601 /)
  })
})

/** What Citus demands of a distributed table: its column in every unique key, and no subquery in a policy. */
const CITUS_RULES = `
CREATE TABLE spread (name text PRIMARY KEY, kind text NOT NULL);
CREATE FUNCTION create_distributed_table(
  name regclass, spread_by text, spread_how text DEFAULT 'hash', colocate_with text DEFAULT 'default') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF colocate_with <> 'default' AND NOT EXISTS (SELECT 1 FROM spread s WHERE s.name = colocate_with) THEN
    RAISE 'not distributed yet: %', colocate_with;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = name AND attname = spread_by AND atttypid = 'int8'::regtype) THEN
    RAISE 'no such column: %', spread_by;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = name AND i.indisunique AND NOT EXISTS (
      SELECT 1 FROM pg_attribute a WHERE a.attrelid = name AND a.attname = spread_by AND a.attnum = ANY (i.indkey::int2[]))) THEN
    RAISE 'a unique key of % is without %', name, spread_by;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = name AND concat(p.polqual, p.polwithcheck) LIKE '%{SUBLINK%') THEN
    RAISE 'a policy of % contains a subquery', name;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = name AND contype = 'f') THEN RAISE 'foreign key in %', name; END IF;
  INSERT INTO spread VALUES (name::text, 'distributed');
END $$;
CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
  $$ INSERT INTO spread VALUES (name::text, 'reference') $$;
`

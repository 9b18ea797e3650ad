/** Sessions spread over three databases: the search asks each, and answers as one database does. */
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
})

/** A copy of what a person may read, for a company's lake. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportTeam } from '../../src/cli/team/export.ts'
import { assistant, header, tempFolder, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { addMember, teamServer } from '../support/team.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000004${String(number).padStart(2, '0')}`

const conversation = (thread: string, directory: string, turns: number): string =>
  text([
    header({ id: thread, cwd: directory }),
    ...Array.from({ length: turns }, (_, at) => [
      user(at * 3 + 1, `Question ${at}`),
      assistant(at * 3 + 2, `Answer ${at}`),
      tokens(at * 3 + 3, 100 * (at + 1), 10 * (at + 1)),
    ]).flat(),
  ])

describe.skipIf(withoutPostgres)(`the export of a team ${withoutPostgres ?? ''}`, () => {
  test('has the tokens of everything and the text of what is shared, and follows changes', async () => {
    const server = await teamServer()
    const alice = await addMember(server, 'Alice')
    const bob = await addMember(server, 'Bob')
    for (const [number, shared] of (['team', 'usage', 'nobody'] as const).entries()) {
      await alice.log(threadOf(number), conversation(threadOf(number), `/w/${shared}`, 2))
      alice.share(`/w/${shared}`, { shared })
    }
    await alice.push()
    const folder = join(tempFolder(), 'lake')
    const run = async () => {
      await exportTeam(bob.home.app, [folder], { version: '0', json: true })
      const rows = readFileSync(join(folder, 'sessions.jsonl'), 'utf8').trim().split('\n').filter(Boolean)
      return {
        rows: rows.map(
          (row) =>
            JSON.parse(row) as { session: string; shared: string; usage: { total_tokens: number; model: string }[] },
        ),
        logs: readdirSync(join(folder, 'messages')),
      }
    }
    const first = await run()
    expect(
      first.rows.map(({ shared, usage }) => [shared, usage.reduce((sum, one) => sum + one.total_tokens, 0)]).sort(),
    ).toEqual([
      ['team', 220],
      ['usage', 220],
    ])
    expect(first.logs).toHaveLength(1)
    const log = join(folder, 'messages', first.logs[0] ?? '')
    expect(readFileSync(log, 'utf8')).toContain('Answer 1')
    const audit = await alice.client.get<{ action: string; person: string }[]>('/audit')
    expect(audit.filter(({ action }) => action === 'export').map(({ person }) => person)).toEqual(['Bob'])

    await alice.log(threadOf(0), conversation(threadOf(0), '/w/team', 3))
    await alice.push()
    await run()
    expect(readFileSync(log, 'utf8')).toContain('Answer 2')
    const id = first.rows.find(({ shared }) => shared === 'team')?.session ?? ''
    await alice.client.post(`/sessions/${id.slice(5)}/withdraw`)
    expect((await run()).rows.map(({ shared }) => shared)).toEqual(['usage'])
    expect(existsSync(log)).toBe(false)
  })
})

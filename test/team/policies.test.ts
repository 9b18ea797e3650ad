/** What a team decides for everybody: numbers only, how long, and what becomes of people who leave. */
import { describe, expect, test } from 'vitest'
import { applyRetention } from '../../src/team/server/remove-sessions.ts'
import { changePolicy } from '../../src/team/server/team-settings.ts'
import { assistant, header, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { addMember, teamServer } from '../support/team.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000002${String(number).padStart(2, '0')}`

const conversation = (thread: string, directory: string): string =>
  text([
    header({ id: thread, cwd: directory }),
    user(1, 'Where do wombats sleep?'),
    assistant(2, 'Wombats sleep in burrows.'),
    tokens(3, 100, 10),
  ])

describe.skipIf(withoutPostgres)(`policies of a team ${withoutPostgres ?? ''}`, () => {
  test('numbers only: no request brings text in, not even for a session that was begun before', async () => {
    const server = await teamServer()
    const { database } = server
    const member = await addMember(server, 'Ada')
    await member.log(threadOf(1), conversation(threadOf(1), '/w/app'))
    member.share('/w/app', { shared: 'usage' })
    await member.push()
    const [own] = await member.client.get<{ id: string }[]>('/sessions')
    const path = `/sessions/${own?.id.slice(5)}`
    const begun = await member.client.post<{ key: string; generation: number }>('/sessions', {
      agent: 'codex',
      native_id: 'begun',
      first_record: 'x',
      project: 'app',
      shared: 'team',
    })
    await changePolicy(database, { usage_only: true })
    server.server.context.forgetTeam()
    await expect(member.client.post(`${path}/share`, { shared: 'team' })).rejects.toThrow('numbers only')
    const head = JSON.stringify({ generation: begun.generation, from: 0, ids: '', texts: '' })
    await expect(member.client.postLines(`/sessions/${begun.key}/messages`, [head])).rejects.toThrow('numbers only')
    member.share('/w/app', { shared: 'team' })
    expect((await member.push()).map(({ outcome }) => outcome.kind)).toEqual(['failed'])
    const stored = await database.asServer((db) =>
      db.rows(`SELECT 1 FROM message UNION ALL SELECT 1 FROM session WHERE title IS NOT NULL OR header IS NOT NULL`),
    )
    expect(stored).toEqual([])
    member.share('/w/app', { shared: 'usage' })
    const { data } = await member.json<{ data: { usage: { total_tokens: number } } }>('/api/stats')
    expect(data.usage.total_tokens).toBe(110)
  })

  test('retention erases old sessions and says how many', async () => {
    const server = await teamServer()
    const member = await addMember(server, 'Bea', { isAdmin: true })
    await member.log(threadOf(2), conversation(threadOf(2), '/w/app'))
    member.share('/w/app')
    await member.push()
    expect(await applyRetention(server.database, 36_500)).toBe(0)
    await member.client.post('/policy', { retention_days: 1 })
    expect((await member.json<{ data: unknown[] }>('/api/sessions')).data).toEqual([])
    const audit = await member.client.get<{ action: string; detail: string | null }[]>('/audit')
    expect(audit.find(({ action }) => action === 'retention')?.detail).toBe('1')
  })

  test('who leaves takes nothing from others, and nothing stays that nobody can read', async () => {
    const server = await teamServer()
    const boss = await addMember(server, 'Cleo', { isAdmin: true })
    const dan = await addMember(server, 'Dan')
    await dan.log(threadOf(3), conversation(threadOf(3), '/w/own'))
    await dan.log(threadOf(4), conversation(threadOf(4), '/w/app'))
    dan.share('/w/own', { shared: 'nobody' })
    dan.share('/w/app')
    await dan.push()
    await expect(dan.client.post('/leave', { sessions: 'erase', person: 'Cleo' })).rejects.toThrow('administrators')
    await expect(boss.client.post('/leave', { sessions: 'erase', person: 'Nobody' })).rejects.toThrow('Nobody')
    const left = await boss.client.post('/leave', { sessions: 'leave', person: 'Dan' })
    expect(left).toEqual({ sessions: 1, erased: false })
    const rows = await server.database.asServer((db) => db.rows('SELECT shared FROM session'))
    expect(rows).toEqual([{ shared: 'team' }])
    await expect(dan.client.get('/me')).rejects.toThrow('revoked')
    expect((await dan.fetch('/api/sessions')).status).toBe(401)
    expect((await boss.json<{ data: { person: string }[] }>('/api/sessions')).data.map(({ person }) => person)).toEqual(
      ['Dan'],
    )
  })
})

/** What colleagues solved, for agents and on one's own machine: `fumi mcp --team` and `fumi handoff team:…`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, test } from 'vitest'
import { onCleanup } from '../support/cleanup.ts'
import { assistant, call, header, result, tempFolder, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { addMember, type Member, teamServer } from '../support/team.ts'

const threadOf = (number: number): string => `019c0000-0000-7000-8000-0000000003${String(number).padStart(2, '0')}`

const solved = (thread: string, directory: string, what: string): string =>
  text([
    header({ id: thread, cwd: directory }),
    user(1, `Why does the deploy hang at ${what}?`),
    call(2, 'call_1', { command: ['bash', '-lc', `journalctl -u ${what}`] }),
    result(3, 'call_1', 'lock wait timeout exceeded\n'),
    assistant(4, `The migration of ${what} waits for a lock. Set lock_timeout before it.`),
    tokens(5, 100, 10),
  ])

describe.skipIf(withoutPostgres)(`recalling what a team solved ${withoutPostgres ?? ''}`, async () => {
  if (withoutPostgres) return test.skip('need PostgreSQL')
  const server = await teamServer()
  const alice = await addMember(server, 'Alice')
  const bob = await addMember(server, 'Bob')
  for (const [number, shared] of (['team', 'nobody'] as const).entries()) {
    await alice.log(threadOf(number), solved(threadOf(number), `/w/${shared}`, `ledger${shared}`))
    alice.share(`/w/${shared}`, { shared })
  }
  await alice.push()
  const environmentOf = ({ home }: Member): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home.folder,
    FUMI_HOME: home.app.directory,
  })

  const connect = async (member: Member): Promise<(name: string, args: object) => Promise<string>> => {
    const client = new Client({ name: 'test-client', version: '1' })
    const env = environmentOf(member)
    const command = { command: process.execPath, args: [fumiPath, 'mcp', '--team'], env, stderr: 'ignore' as const }
    await client.connect(new StdioClientTransport(command))
    onCleanup(() => client.close())
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('search')
    return async (name, args) => {
      const { content } = await client.callTool({ name, arguments: { ...args } })
      return (content as { text: string }[]).map((one) => one.text).join()
    }
  }

  test('an agent asks in plain words, reads the citation, and gets nothing that is not shared', async () => {
    const ask = await connect(bob)
    const found = await ask('team_search', {
      query: 'why is our deployment hanging on a lock in the ledgerteam migration?',
    })
    expect(found).toContain('Set lock_timeout before it.')
    expect(found).toContain('Alice')
    expect(found).not.toContain('ledgernobody')
    const [citation = ''] = /team\/[\da-f]{16}#\d+/.exec(found) ?? []
    const read = await ask('team_read', { session: citation })
    expect(read).toContain('Why does the deploy hang at ledgerteam?')
    expect(read).toContain('lock wait timeout exceeded')
    expect(read).toMatch(/End\./)
    expect(await ask('team_search', { query: 'ledgernobody' })).toContain('no matches')
    expect(await ask('team_search', { query: 'ledgerteam', person: 'Bob' })).toContain('no matches')
    const hidden = await alice.client.get<{ id: string; title: string }[]>('/sessions')
    const secret = hidden.find(({ title }) => title.includes('ledgernobody'))?.id ?? ''
    expect(await ask('team_read', { session: secret })).toContain('not found')
    const audit = await alice.client.get<{ action: string; person: string }[]>('/audit')
    expect(audit.filter(({ action }) => action === 'read').map(({ person }) => person)).toEqual(['Bob'])
    // Own sessions are found too, whether or not others may read them.
    expect(await (await connect(alice))('team_search', { query: 'ledgernobody lock' })).toContain('lock_timeout')
  })

  test('a long answer keeps its budget and says where it continues', async () => {
    const ask = await connect(bob)
    const found = await ask('team_search', { query: 'ledgerteam' })
    const [session = ''] = /team\/[\da-f]{16}/.exec(found) ?? []
    const part = await ask('team_read', { session, budget: 200 })
    expect(Buffer.byteLength(part)).toBeLessThanOrEqual(800)
    const next = /from: (\d+)\)/.exec(part)?.[1]
    expect(await ask('team_read', { session, from: Number(next), budget: 8000 })).toContain('Set lock_timeout')
  })

  test('a session is taken over into another agent, and its owner sees it', async () => {
    const list = await bob.json<{ data: { id: string }[] }>('/api/sessions')
    const id = list.data[0]?.id ?? ''
    const cwd = tempFolder()
    // The server runs in this process, which therefore must not wait.
    const handOver = async (session: string): Promise<number | null> => {
      const args = [fumiPath, 'handoff', session, '--to', 'codex']
      const child = spawn(process.execPath, args, { cwd, env: environmentOf(bob), stdio: 'ignore' })
      const [code] = (await once(child, 'exit')) as [number | null]
      return code
    }
    bob.home.write('.codex/config.toml', '')
    expect(await handOver(id)).toBe(0)
    const logs = readdirSync(join(bob.home.folder, '.codex', 'sessions'), { recursive: true })
    expect(logs.some((name) => String(name).endsWith('.jsonl'))).toBe(true)
    const audit = await alice.client.get<{ action: string; person: string; session: string }[]>('/audit')
    expect(audit.filter(({ action }) => action === 'take_over')).toMatchObject([{ person: 'Bob', session: id }])
    expect(await handOver('team:0000000000000000')).not.toBe(0)
  })
})

/** From one machine to a colleague's page: join, push, list, search, read, withdraw. */
import { describe, expect, test } from 'vitest'
import { assistant, call, header, result, text, tokens, user } from '../support/codex-log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { addMember, teamServer } from '../support/team.ts'

const THREAD = '019c0000-0000-7000-8000-00000000000a'
const conversation = (directory: string): readonly string[] => [
  header({ id: THREAD, cwd: directory }),
  user(1, 'Why does fetchInvoiceTotal fail? 請求書の合計が違う'),
  call(2, 'call_1', { command: ['bash', '-lc', 'cat invoice.ts'] }),
  result(3, 'call_1', 'export const fetchInvoiceTotal = () => 1\n'),
  assistant(4, 'The rounding in fetchInvoiceTotal is wrong.'),
  tokens(5, 1200, 40),
]

describe.skipIf(withoutPostgres)(`a session of a team ${withoutPostgres ?? ''}`, async () => {
  const server = withoutPostgres ? undefined : await teamServer()

  test('is found and read by a colleague, and gone after it is withdrawn', async () => {
    if (!server) return
    const alice = await addMember(server, 'Alice')
    const bob = await addMember(server, 'Bob')
    const id = await alice.log(THREAD, text(conversation('/w/billing')))
    expect(await alice.push()).toEqual([])
    alice.share('/w/billing')
    expect((await alice.push()).map(({ id: one, outcome }) => [one, outcome.kind])).toEqual([[id, 'sent']])
    expect(await alice.push()).toEqual([])

    const list = await bob.json<{ data: { id: string; person: string; usage: { total_tokens: number } }[] }>(
      '/api/sessions',
    )
    expect(list.data.map(({ person, usage }) => [person, usage.total_tokens])).toEqual([['Alice', 1240]])
    const team = list.data[0]?.id ?? ''
    for (const words of ['rounding', 'invoice', 'fetchInvoiceTotal', '合', '請求書', '"is wrong"', 'round*']) {
      const found = await bob.json<{ data: { session_id: string; snippet: string }[] }>(
        `/api/search?q=${encodeURIComponent(words)}`,
      )
      expect(found.data.length, words).toBeGreaterThan(0)
      expect(new Set(found.data.map(({ session_id }) => session_id))).toEqual(new Set([team]))
    }
    // A page sends several requests at once.
    const statuses = await Promise.all(
      ['', '/shape', '/turns', '/messages'].map(
        async (path) => (await bob.fetch(`/api/sessions/${encodeURIComponent(team)}${path}`)).status,
      ),
    )
    expect(statuses).toEqual([200, 200, 200, 200])
    const detail = await bob.json<{ data: { agent: string; record_count: number } }>(`/api/sessions/${team}`)
    expect(detail.data.agent).toBe('codex')
    const messages = await bob.json<{ data: { segments: { text: string }[] }[] }>(`/api/sessions/${team}/messages`)
    expect(JSON.stringify(messages.data)).toContain('The rounding in fetchInvoiceTotal is wrong.')

    await alice.client.post(`/sessions/${team.slice(5)}/withdraw`)
    expect((await bob.json<{ data: unknown[] }>('/api/sessions')).data).toEqual([])
    expect((await bob.json<{ data: unknown[] }>('/api/search?q=rounding')).data).toEqual([])
    expect((await bob.fetch(`/api/sessions/${team}/messages`)).status).toBe(404)
  })
})

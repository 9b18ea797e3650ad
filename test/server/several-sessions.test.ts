/** Sums, facets, annotations and exports of several sessions at once. */
import { inflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { KETTLE, OWN_SESSION, PARENT, sampleServer } from './sample-server.ts'
import type { Reply } from './test-server.ts'

const { served, get, problem } = sampleServer()

const post = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

describe('the summary of a list', () => {
  test.each(['', 'q=kettle', 'since=2026-02-04', 'children=all', 'model=gpt-5*'])(
    'adds up what the list shows (%s)',
    async (filters) => {
      const { data } = await get(`/api/sessions?per_page=100&${filters}`, 'SessionsReply')
      const summary: Reply = await get(`/api/sessions/summary?${filters}`, 'SummaryReply')
      const sum = (of: (one: Reply) => number): number => data.reduce((all: number, one: Reply) => all + of(one), 0)
      expect(summary.data.totals).toEqual({
        sessions: data.length,
        turns: sum((one) => one.turn_count),
        tools: sum((one) => one.tool_count),
        errors: sum((one) => one.error_count),
        total_tokens: sum((one) => one.usage.total_tokens),
        cost: {
          usd: expect.closeTo(
            sum((one) => one.cost.usd),
            6,
          ),
          unpriced_tokens: sum((one) => one.cost.unpriced_tokens),
        },
      })
    },
  )

  test('counts each filter under the other filters', async () => {
    const count = async (filters: string): Promise<number> =>
      (await get(`/api/sessions?${filters}`)).meta.pagination.total_count
    const { data } = await get('/api/sessions/summary?project=kettle&since=2026-02-01', 'SummaryReply')
    for (const { value, count: shown } of data.agents)
      expect(await count(`agent=${value}&project=kettle&since=2026-02-01`)).toBe(shown)
    expect(data.projects.length).toBeGreaterThan(1)
    for (const { value, count: shown } of data.projects)
      expect(await count(`project=${encodeURIComponent(value)}&since=2026-02-01`)).toBe(shown)
    for (const { value, count: shown } of data.models)
      expect(await count(`model=${value}&project=kettle&since=2026-02-01`)).toBe(shown)
  })
})

test('several sessions get a star and tags at once, or none does', async () => {
  const unknown = post({ ids: [KETTLE, 'codex:nothing'], starred: true })
  expect((await problem('/api/sessions/marks', unknown)).code).toBe('session_not_found')
  expect((await get('/api/sessions?starred=1')).data).toEqual([])
  const reply = await served().ask('/api/sessions/marks', post({ ids: [KETTLE, PARENT], starred: true, tag: ['tea'] }))
  expect(await reply.json()).toEqual({ data: { changed: 2 }, meta: {} })
  const marked = (await get('/api/sessions?starred=1&tag=tea')).data
  expect(marked.map(({ id }: Reply) => id).sort()).toEqual([KETTLE, PARENT].sort())
  const counts = async (filters: string): Promise<object> => (await get(`/api/sessions/summary?${filters}`)).data.tags
  expect(await counts('')).toEqual([{ value: 'tea', count: 2 }])
  expect(await counts('project=kettle&tag=tea')).toEqual([{ value: 'tea', count: 1 }])
  await served().ask('/api/sessions/marks', post({ ids: [PARENT], untag: ['tea'] }))
  expect((await get('/api/sessions?tag=tea')).data.map(({ id }: Reply) => id)).toEqual([KETTLE])
})

test('several sessions are exported as one ZIP file of the single exports', async () => {
  const ids = [KETTLE, OWN_SESSION]
  const response = await served().ask('/api/sessions/export', post({ ids, format: 'md' }))
  expect(response.headers.get('content-disposition')).toContain('.zip')
  const files = unzip(Buffer.from(await response.arrayBuffer()))
  expect(files.size).toBe(2)
  for (const id of ids) {
    const single = await served().ask(`/api/sessions/${encodeURIComponent(id)}/export?format=md&redact=1`)
    expect(files.get(`${id.replace(':', '_')}.md`)).toBe(await single.text())
  }
})

/** Reads the directory at the end, as programs do. */
function unzip(bytes: Buffer): ReadonlyMap<string, string> {
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  const files = new Map<string, string>()
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [packed, size, nameLength] = [
      bytes.readUInt32LE(at + 20),
      bytes.readUInt32LE(at + 24),
      bytes.readUInt16LE(at + 28),
    ]
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26)
    const content = inflateRawSync(bytes.subarray(start, start + packed))
    expect(content.length).toBe(size)
    files.set(name, content.toString())
    at += 46 + nameLength
  }
  return files
}

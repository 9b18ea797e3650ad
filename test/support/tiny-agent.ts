/**
 * The smallest agent, in one file without runtime imports, for tests that add an agent to a built program. To write an
 * adapter, start from test/example-agent.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Locator, ReadItem, Source } from '../../src/agents/agent.ts'
import type { Instant, SessionId } from '../../src/model/ids.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import type { Session } from '../../src/model/session.ts'

const AT = '2026-03-01T10:00:00.000Z' as Instant
const nameOf = (path: string): string => /([^\\/]+)\.txt$/.exec(path)?.[1] ?? path
const linesOf = ({ path }: Source): readonly string[] => readFileSync(path, 'utf8').split('\n').filter(Boolean)

const tiny: Agent = {
  id: 'tiny',
  label: 'Tiny',
  version: 1,
  roots: ({ home }) => [join(home, '.tiny')],
  recognize: (_, path) => path.endsWith('.txt'),
  async *find(root) {
    const names = statSync(root).isDirectory() ? readdirSync(root) : ['']
    for (const name of names) yield { agent: 'tiny', path: join(root, name), root }
  },
  probe: async ({ path }) => String(statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? ''),
  async *scan(source) {
    const lines = linesOf(source)
    yield [
      { kind: 'session', session: sessionOf(source) },
      { kind: 'times', first: AT, last: AT },
      { kind: 'counts', counts: { lines: lines.length, messages: lines.length, tools: {} } },
    ]
  },
  async *read(source) {
    const texts = linesOf(source).map((_, at): ReadItem => ({ kind: 'message', ...placed(source, at) }))
    yield [{ kind: 'session', session: sessionOf(source) }, ...texts]
  },
  readMessage: async (source, { at }) => placed(source, Number(at)).message,
}

export default tiny

const sessionOf = (source: Source): Session => ({
  id: `tiny:${nameOf(source.path)}` as SessionId,
  agent: 'tiny',
  native_id: nameOf(source.path),
  first_record: nameOf(source.path),
  path: source.path,
  kind: 'conversation',
  started_at: AT,
  first_prompt: linesOf(source)[0]?.replace(/^\w+: /, '') ?? '',
  models: [],
  ancestors: [],
})

function placed(source: Source, at: number): { readonly message: NormalizedMessage; readonly locator: Locator } {
  const [, who = '', text = ''] = /^(\w+): (.*)$/.exec(linesOf(source)[at] ?? '') ?? []
  const isAsked = who === 'me'
  const message: NormalizedMessage = {
    id: `${AT}#${at + 1}`,
    timestamp: AT,
    role: isAsked ? 'user' : 'assistant',
    source_type: 'message',
    segments: [{ channel: isAsked ? 'input' : 'output', type: 'text', format: 'line', text }],
    raw: {
      event_type: null,
      payload_type: null,
      file_path: source.path,
      line_index: at + 1,
      session_id: `tiny:${nameOf(source.path)}`,
    },
  }
  return { message, locator: { at } }
}

/** Documents for `opencode import`: their order, and what happens without the program. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stateOf } from '../support/amazon-q-store.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

const STATE = stateOf('1b4e28ba-2fa1-41d2-883f-0016d3cca427', [
  { prompt: 'When do I sow beans?', answer: 'In May.', tools: ['fs_read'] },
  { prompt: 'And peas?', answer: 'In March.' },
])

interface Document {
  readonly info: { readonly id: string }
  readonly messages: readonly {
    readonly info: { readonly id: string; readonly role: string; readonly sessionID: string }
    readonly parts: readonly { readonly id: string; readonly type: string; readonly text?: string }[]
  }[]
}

test('a written document is in order, is accepted, and comes back', () => {
  const home = tempFolder()
  const [saved, written, back] = ['saved.json', 'written.json', 'back.json'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(saved, STATE)
  expect(fumi(['convert', saved, '--to', 'opencode', '-o', written]).code).toBe(0)
  const { info, messages } = JSON.parse(readFileSync(written, 'utf8')) as Document
  expect(messages.map((message) => message.info.role)).toEqual(['user', 'assistant', 'assistant', 'user', 'assistant'])
  const ids = messages.map((message) => message.info.id)
  expect([...ids].sort()).toEqual(ids)
  expect(ids.every((id) => id.startsWith('msg_0000'))).toBe(true)
  expect(new Set(messages.map((message) => message.info.sessionID))).toEqual(new Set([info.id]))
  const parts = messages.flatMap((message) => message.parts.map(({ id }) => id))
  expect(new Set(parts).size).toBe(parts.length)
  expect(fumi(['validate', written]).code).toBe(0)
  expect(fumi(['convert', written, '--to', 'amazon-q', '-o', back]).code).toBe(0)
  expect(JSON.parse(readFileSync(back, 'utf8'))).toEqual(JSON.parse(STATE))
})

test('a prompt that is an image alone keeps what OpenCode has no field for', () => {
  const home = tempFolder()
  const [chat, written, back] = ['chat.json', 'written.json', 'back.json'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ]
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } }
  const messages = [
    { role: 'user', name: 'mio', content: [image] },
    { role: 'assistant', content: 'A kettle.' },
  ]
  writeFileSync(chat, JSON.stringify({ messages }))
  expect(fumi(['convert', chat, '--to', 'opencode', '-o', written]).code).toBe(0)
  const parts = (JSON.parse(readFileSync(written, 'utf8')) as Document).messages[0]?.parts ?? []
  expect(parts.map(({ type }) => type)).toEqual(['file', 'text'])
  expect(parts.map(({ id }) => id).sort()).toEqual(parts.map(({ id }) => id))
  expect(fumi(['validate', written]).code).toBe(0)
  expect(fumi(['convert', written, '--to', 'openai', '-o', back]).code).toBe(0)
  expect((JSON.parse(readFileSync(back, 'utf8')) as { messages: unknown }).messages).toEqual(messages)
})

test('the checker finds what OpenCode would not take', () => {
  const home = tempFolder()
  const file = join(home, 'document.json')
  const part = { id: 'prt_1', sessionID: 'ses_1', messageID: 'msg_2', type: 'text', text: 'Hello' }
  const prompt = { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 2 }, agent: 'build', model: {} }
  const answer = { id: 'msg_0', sessionID: 'ses_1', role: 'assistant', time: { created: 1 }, parentID: 'msg_1' }
  const info = { id: 'ses_1', slug: 'a', title: 'b', version: '1', time: { created: 1, updated: 2 } }
  writeFileSync(
    file,
    JSON.stringify({
      info,
      messages: [
        { info: prompt, parts: [part] },
        { info: answer, parts: [] },
      ],
    }),
  )
  const { out, code } = fumi(['validate', file, '--target', 'opencode', '--json'])
  expect(code).toBe(1)
  const rules = (JSON.parse(out) as { readonly findings: readonly { readonly rule: string }[] }).findings
  expect(rules.map(({ rule }) => rule)).toEqual(['message_id', 'message', 'order'])
})

test('a handoff without the program changes nothing and says what to do', () => {
  const home = tempFolder()
  const work = join(home, 'work')
  mkdirSync(work)
  const saved = join(home, 'saved.json')
  writeFileSync(saved, STATE)
  const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), XDG_DATA_HOME: join(home, 'data'), PATH: '/nowhere' }
  const { code, err } = fumi(['handoff', saved, '--to', 'opencode', '--cwd', work], { env })
  expect(code).not.toBe(0)
  expect(err).toContain('opencode import')
})

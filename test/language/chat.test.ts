/** Chats in Japanese: texts of commands and tools for people. Text for the model and programs stays English. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CHAT_COMMANDS } from '../../src/chat/commands/command-list.ts'
import type { ChatSessionEvent } from '../../src/chat/events.ts'
import { SeenFiles } from '../../src/chat/tools/files/seen-files.ts'
import { createBuiltInTools } from '../../src/chat/tools/tool-set.ts'
import { chatSession, sendLine } from '../chat/support/chat-session.ts'
import { chatHome, fumiChat } from '../chat/support/fumi-chat.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, modelServer } from '../support/model-server.ts'

const JAPANESE = /[ぁ-んァ-ヶ一-龠]/
const reported = (events: readonly ChatSessionEvent[]): readonly { readonly text: string; readonly ja: string }[] =>
  events.flatMap((event) => ('ja' in event ? [event] : []))

describe('commands', () => {
  test('each has a Japanese description', () => {
    for (const { name, help } of CHAT_COMMANDS) expect([name, help.ja]).toEqual([name, expect.stringMatching(JAPANESE)])
  })

  test.each([
    '/help',
    '/help tangent',
    '/usage',
    '/tools',
    '/tools trust nothing',
    '/context show',
    '/context add nowhere.md',
    '/rewind',
    '/rewind 99',
    '/rewind branches',
    '/tangent list',
    '/tangent aside',
    '/checkpoint list',
    '/agent show',
    '/agent swap nobody',
    '/mcp',
    '/prompts',
    '/prompts get nothing',
    '/changes',
    '/transcript',
    '/attach nowhere.png',
    '/save',
    '/load nowhere',
    '/retry',
    '/compact --messages-to-exclude few',
    '/unheard-of',
    '/clear',
  ])('%s is answered in both languages', async (line) => {
    const events = reported(await sendLine(chatSession(await modelServer()), line))
    expect(events).not.toHaveLength(0)
    if (line === '/transcript') return expect(events[0]?.ja).toBe(events[0]?.text)
    for (const { text, ja } of events) {
      expect(text).not.toMatch(JAPANESE)
      expect(ja).toMatch(JAPANESE)
    }
  })

  test('a table has the same numbers under other headings', async () => {
    const session = chatSession(await modelServer(answer('Yes.')))
    await sendLine(session, 'Really?')
    const [usage] = reported(await sendLine(session, '/usage'))
    expect(usage?.ja).toMatch(/^\| 送る内容 \| トークン \| ウィンドウに占める割合 \|\n\| --- \| --: \| --: \|\n/)
    const numbers = (text = ''): readonly string[] => text.match(/\d[\d,]*/g) ?? []
    expect(numbers(usage?.ja).toSorted()).toEqual(numbers(usage?.text).toSorted())
  })
})

test('tool questions exist in both languages; the model and the journal have English', async () => {
  const cwd = tempFolder()
  const server = await modelServer(
    calls([{ name: 'fs_write', args: { command: 'create', path: 'a.txt', file_text: 'a' } }]),
    answer('Then not.'),
  )
  const session = chatSession({ ...server, cwd, tools: createBuiltInTools(new SeenFiles()) })
  const events = await sendLine(session, 'Write it', (event) => (event.kind === 'consent_needed' ? 'no' : undefined))
  expect(events.find(({ kind }) => kind === 'consent_needed')).toMatchObject({
    need: { summary: 'write a.txt', summary_ja: 'a.txt に書き込み' },
  })
  expect(events.find(({ kind }) => kind === 'tools_cancelled')).toMatchObject({
    reason_ja: expect.stringMatching(JAPANESE),
  })
  expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  expect(JSON.stringify(server.asked)).toContain('I do not want this tool to run')
  expect(JSON.stringify(server.asked)).not.toMatch(JAPANESE)
  expect(readFileSync(session.writer.journal.path, 'utf8')).not.toMatch(JAPANESE)
})

describe('fumi chat', () => {
  const JA = { LC_ALL: 'ja_JP.UTF-8' }
  const at = (baseURL: string, ...more: readonly string[]) => ['--base-url', baseURL, '--model', 'm', ...more]

  test('prints command output in the language of the terminal', async () => {
    const { baseURL } = await chatServer()
    const lines = '/help usage\n/tools\n/rewind 7\n/quit\n'
    const { out } = await fumiChat(at(baseURL), chatHome(), lines, undefined, JA)
    expect(out).toContain('ウィンドウの使用量とその内訳')
    expect(out).toMatch(/fs_read\s+このディレクトリーの外では確認/)
    expect(out).toContain('やり取りは 0 件です。')
    const english = await fumiChat(at(baseURL), chatHome(), lines)
    expect(english.out).toMatch(/fs_read\s+asks outside this directory/)
  })

  test('prints the same JSON in every language', async () => {
    const events = async (variables: NodeJS.ProcessEnv): Promise<readonly object[]> => {
      const touch = calls([{ name: 'execute_bash', args: { command: 'touch it' } }])
      const { baseURL } = await chatServer(touch, answer('Touched.'))
      const args = at(baseURL, '--no-interactive', '--json', '--trust-tools', 'execute_bash', 'Touch it')
      const { out } = await fumiChat(args, chatHome(), '', undefined, variables)
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object)
    }
    // A shell complains about a locale that is not installed, so the setting selects the language.
    const [ja, en] = [await events({ FUMI_LANGUAGE: 'ja' }), await events({})]
    expect(JSON.stringify(ja)).not.toMatch(JAPANESE)
    expect(ja).toContainEqual(expect.objectContaining({ kind: 'tool_started', summary: 'run touch it' }))
    expect(ja.map((event) => Object.keys(event))).toEqual(en.map((event) => Object.keys(event)))
  })

  test('reports what it cannot do, and that no user could be asked', async () => {
    const place = chatHome()
    const nobody = await fumiChat(['--profile', 'nobody', '--no-interactive', 'Hi'], place, '', undefined, JA)
    expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining('プロファイル「nobody」はありません。') })
    const { baseURL } = await chatServer(calls([{ name: 'execute_bash', args: { command: 'touch it' } }]))
    const asked = await fumiChat(at(baseURL, '--no-interactive', 'Touch it'), place, '', undefined, JA)
    expect(asked).toMatchObject({ code: 12, err: expect.stringContaining('--trust-tools execute_bash で許可できます') })
  })
})

/** Tables, reports and conversations in the terminal, in Japanese. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { chatHome, fumiChat } from '../chat/support/fumi-chat.ts'
import { tempFolder } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer } from '../support/model-server.ts'
import { fumi, lines } from '../support/run-fumi.ts'

const SAMPLES = join(import.meta.dirname, '..', '..', 'samples')
const KETTLE = join(
  SAMPLES,
  'codex/sessions/2026/02/03/rollout-2026-02-03T09-15-00-019c22d1-6a00-7000-8000-000000000001.jsonl',
)
const env = { LC_ALL: 'ja_JP.UTF-8', COLUMNS: '80' }

describe('tables and reports', () => {
  test('have Japanese headings in aligned columns', () => {
    const [head = '', ...rows] = lines(fumi(['list', SAMPLES], { env: { ...env, COLUMNS: '100' } }).out).slice(0, -1)
    expect(head).toMatch(/^最終更新 +会話 ID +タイトル +メッセージ +トークン +場所$/)
    const column = stringWidth(head.slice(0, head.indexOf('会話 ID')))
    for (const row of rows) expect(row.slice(column)).toMatch(/^(?:claude-code|codex|openai):/)
    for (const row of [head, ...rows]) expect(stringWidth(row)).toBeLessThanOrEqual(100)
  })

  test('print totals in Japanese', () => {
    const { out } = fumi(['stats', SAMPLES], { env: { ...env, COLUMNS: '120' } })
    expect(out).toMatch(/^会話 8 件 · メッセージ 31 件 · \d+ 行\nツール 呼び出し 27 回：shell_command 12/)
    expect(out).toMatch(/^モデル +入力 +キャッシュ +キャッシュ書き込み +出力 +推論 +合計 +USD$/m)
    expect(out).toMatch(/入力トークンの \d+ % はキャッシュからの読み取りです。/)
  })

  test('leave message text unchanged', () => {
    const text = (out: string): readonly string[] => out.split('\n').filter((line) => line.startsWith('◆'))
    const { out } = fumi(['show', KETTLE], { env })
    expect(out).toMatch(/^ {2}トークン 入力 [\d,]+（キャッシュ \d+ %）· 出力 [\d,]+ · 合計 [\d,]+$/m)
    expect(text(out).length).toBeGreaterThan(1)
    expect(text(out)).toEqual(text(fumi(['show', KETTLE], { env: { COLUMNS: env.COLUMNS } }).out))
  })

  test('are the same in both languages for programs', () => {
    const FUMI_HOME = join(tempFolder(), 'fumi')
    for (const args of [['show', KETTLE], ['detect', KETTLE], ['config']]) {
      const { out } = fumi([...args, '--json'], { env: { FUMI_HOME } })
      expect(out).toMatch(/^[[{]/)
      expect(fumi([...args, '--json'], { env: { ...env, FUMI_HOME } }).out).toBe(out)
    }
  })
})

test('a chat starts, asks and ends in Japanese, with the same keys', async () => {
  const server = await chatServer(
    calls([{ name: 'execute_bash', args: { command: 'echo made > note.txt' } }], '', { input: 100, output: 10 }),
    answer('Written.', { input: 150, output: 5 }),
  )
  const place = chatHome()
  const args = ['--base-url', server.baseURL, '--model', 'm']
  const typed = 'Make a note\n/help\ny\n/quit\n'
  const { code, out } = await fumiChat(args, place, typed, undefined, { ...env, COLUMNS: '200' })
  expect(out).toContain('/help でコマンドの一覧を表示、/quit で終了します。\n')
  expect(out).toContain('[y] はい · [n] いいえ · [t] この会話では execute_bash を今後も許可')
  expect(out).toContain('実行しますか？ [y/n/t] ')
  expect(out).toContain('先にこの質問に答えてください')
  expect(out).toMatch(/要求 2 回 · 入力 250 · 出力 15 · [\d.]+m?s/)
  expect(readFileSync(join(place.cwd, 'note.txt'), 'utf8')).toBe('made\n')
  expect(code).toBe(0)
})

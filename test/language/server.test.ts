/** The API returns texts for people in both languages: errors, and messages of a chat. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChatOptionsReply } from '../../src/model/api/chat.ts'
import type { ErrorReply } from '../../src/model/api/envelope.ts'
import { EventListener, openChat, post, startChatServer } from '../server/chat/chat-server.ts'
import { calls } from '../support/model-chunks.ts'

const JAPANESE = /[ぁ-んァ-ヶ一-龠]/

describe('errors', () => {
  test.each([
    ['/api/nothing', '/api/nothing というエンドポイントはありません。一覧は /api/openapi.json にあります。'],
    ['/api/sessions/codex:none', '会話 codex:none が見つかりません。'],
    ['/api/search?q=%22open', '引用符が閉じていません。句の終わりに付けてください。'],
    ['/api/sessions?since=soon', 'since には日付か日時を指定してください：2026-11-15、today、7d、12h など。'],
    [
      '/api/sessions?since=2026-02-02&until=2026-01-01',
      '期間の終わりが始まりより前です。since には until より前の日時を指定してください。',
    ],
  ])('%s', async (path, ja) => {
    const { url } = await startChatServer()
    const { errors } = (await (await fetch(new URL(path, url))).json()) as ErrorReply
    expect(errors).toMatchObject([{ detail: expect.not.stringMatching(JAPANESE), detail_ja: ja }])
  })

  test('of forbidden input and of unusable targets', async () => {
    const { url } = await startChatServer()
    const { id } = await openChat(url)
    const shell = await post(url, `/api/chat/${id}/say`, { text: '!ls' })
    expect(shell.body.errors[0].detail_ja).toMatch(/端末で実行するか/)
    const nobody = await post(url, '/api/chat', { profile: 'nobody' })
    expect(nobody.body.errors[0]).toMatchObject({ detail_ja: expect.stringContaining('プロファイル「nobody」') })
  })
})

describe('a conversation', () => {
  test('names its commands in both languages', async () => {
    const { url } = await startChatServer()
    const { data } = (await (await fetch(new URL('/api/chat/options', url))).json()) as ChatOptionsReply
    for (const { help, help_ja } of data.commands) {
      expect(help).not.toMatch(JAPANESE)
      expect(help_ja).toMatch(JAPANESE)
    }
  })

  test('says why there are no models', async () => {
    const { url, app } = await startChatServer()
    const profiles = { gone: { url: 'http://127.0.0.1:1/v1' } }
    writeFileSync(join(app.directory, 'config.json'), JSON.stringify({ profile: 'gone', profiles }))
    const { data } = (await (await fetch(new URL('/api/chat/options', url))).json()) as ChatOptionsReply
    expect(data.models_problem).toMatch(/Cannot reach 127\.0\.0\.1:1/)
    expect(data.models_problem_ja).toMatch(/127\.0\.0\.1:1 に接続できません/)
  })

  test('has command output and tool questions in both languages', async () => {
    const { url } = await startChatServer([calls([{ name: 'execute_bash', args: { command: 'rm -rf build' } }])])
    const { id } = await openChat(url)
    const page = await EventListener.to(url, id)
    await post(url, `/api/chat/${id}/say`, { text: '/tangent list' })
    expect(await page.next('output')).toMatchObject({ text: 'No tangent is open.\n', ja: '脇道にはいません。\n' })
    await page.rest()
    await post(url, `/api/chat/${id}/say`, { text: 'Tidy up' })
    expect((await page.next('consent_needed')).need).toMatchObject({
      ...{ summary: 'run rm -rf build', summary_ja: 'rm -rf build を実行' },
      ...{ reason: 'it deletes files', reason_ja: 'ファイルを削除します' },
    })
    await post(url, `/api/chat/${id}/interrupt`)
    expect(await page.next('tools_cancelled')).toMatchObject({ reason_ja: 'ツールの実行を中断しました' })
  })
})

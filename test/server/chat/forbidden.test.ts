import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChatFilesReply } from '../../../src/model/api/chat.ts'
import { readToken } from '../../../src/server/guard/sign-in.ts'
import { answer } from '../../support/model-chunks.ts'
import type { ModelRequest } from '../../support/model-server.ts'
import { EventListener, openChat, post, startChatServer } from './chat-server.ts'

const texts = ({ body }: ModelRequest): string => JSON.stringify(body.messages)

describe('what a client may not do', () => {
  test('choose a path, a server or trust in everything', async () => {
    const { url, folder, cwd } = await startChatServer()
    const refused = async (body: object) => (await post(url, '/api/chat', body)).status
    expect(await refused({ directory: folder })).toBe(422)
    expect(await refused({ directory: `${cwd}/..` })).toBe(422)
    expect(await refused({ directory: '/' })).toBe(422)
    expect(await refused({ base_url: 'http://127.0.0.1:1/v1' })).toBe(400)
    expect(await refused({ trust_all: true })).toBe(400)
    expect(await refused({ profile: 'nobody' })).toBe(422)
    expect(await refused({ session: '../../etc/passwd' })).toBe(404)
  })

  test('reach files outside of the directory, run a shell, or trust all tools', async () => {
    const { url, folder, cwd, model } = await startChatServer([answer('Read.')])
    writeFileSync(join(folder, 'secret.txt'), 'secret')
    mkdirSync(join(cwd, 'notes'))
    writeFileSync(join(cwd, 'notes', 'tide.md'), 'the tide')
    symlinkSync(folder, join(cwd, 'out'))
    const { id } = await openChat(url)
    const lines = [
      ...['!touch run', '/tools trust-all', '/tools trust *', '/tools trust @builtin'],
      ...[
        '/attach ../secret.txt',
        '/attach ~/secret.txt',
        `/attach ${join(folder, 'secret.txt')}`,
        '/attach out/secret.txt',
      ],
      ...['/context add ../**', '/context add -f "/etc/passwd"', '/save ../saved.json', '/load ../secret.txt'],
      ...['Look at @../secret.txt', 'Look at @out/secret.txt', 'Look at @"../secret.txt" now'],
    ]
    for (const text of lines) {
      const { status, body } = await post(url, `/api/chat/${id}/say`, { text })
      expect({ text, status, code: body.errors?.[0]?.code }).toEqual({ text, status: 422, code: 'not_possible' })
    }
    const files = async (q: string): Promise<unknown> => {
      const response = await fetch(new URL(`/api/chat/${id}/files?q=${encodeURIComponent(q)}`, url))
      return ((await response.json()) as ChatFilesReply).data
    }
    expect(await files('')).toEqual(['notes/'])
    expect(await files('notes/t')).toEqual(['notes/tide.md'])
    for (const q of ['../', '/etc/', 'out/', 'notes/../../'])
      expect({ q, found: await files(q) }).toEqual({ q, found: [] })
    const page = await EventListener.to(url, id)
    await post(url, `/api/chat/${id}/say`, { text: 'Look at @notes/tide.md' })
    await page.end()
    expect(model.asked.map(texts)[0]).toContain('the tide')
    expect(existsSync(join(cwd, 'run'))).toBe(false)
  })

  test('come from another site, or without a token', async () => {
    const { url, app } = await startChatServer([], { auth: true })
    const plain = { method: 'POST', body: '{}' }
    expect(
      (await fetch(new URL('/api/chat', url), { ...plain, headers: { 'content-type': 'application/json' } })).status,
    ).toBe(401)
    const authorization = `Bearer ${readToken(app.directory)}`
    const foreign = { authorization, origin: 'http://evil.example', 'content-type': 'application/json' }
    expect((await fetch(new URL('/api/chat', url), { ...plain, headers: foreign })).status).toBe(403)
    const form = { authorization, 'content-type': 'text/plain' }
    expect((await fetch(new URL('/api/chat', url), { ...plain, headers: form })).status).toBe(403)
    expect((await fetch(new URL('/api/chat/options', url))).status).toBe(401)
  })
})

/** Links that sign a browser in: once, for a minute, without the token, and only on the same host. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createSignInCode, readToken, rotateToken, SignIns, TokenFile } from '../../src/server/guard/sign-in.ts'
import { listen } from '../../src/server/listen.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'
import { testHome } from '../support/test-home.ts'
import { HOST, type Reply, serve } from './test-server.ts'

const open: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const cookieOf = (service: SignIns, code: string): string => {
  const signedIn = service.exchange(code)
  if (signedIn.kind !== 'session') throw new Error(`refused: ${signedIn.kind}`)
  return signedIn.cookie
}

describe('a code', () => {
  test('works once, and only unmodified', () => {
    const tokens = new TokenFile(tempFolder())
    const signIns = new SignIns(tokens)
    const code = createSignInCode(tokens.token, tokens.instance)
    expect(code).toMatch(/^[\w-]{43}$/)
    for (const wrong of [
      '',
      'x',
      code.slice(1),
      `${code}AA`,
      `A${code.slice(0, 42)}`,
      createSignInCode('other', tokens.instance),
    ])
      expect([wrong, signIns.exchange(wrong).kind]).toEqual([wrong, 'wrong'])
    expect(signIns.accepts(cookieOf(signIns, code))).toBe(true)
    expect(signIns.exchange(code).kind).toBe('used')
  })

  test('works for a minute', () => {
    const tokens = new TokenFile(tempFolder())
    const testMachine = Date.parse('2026-02-03T09:15:00.000Z')
    const code = createSignInCode(tokens.token, tokens.instance, testMachine)
    const at = (later: number): string => new SignIns(tokens, () => testMachine + later).exchange(code).kind
    expect([at(0), at(59_000), at(61_000), at(-5 * 60_000)]).toEqual(['session', 'session', 'expired', 'expired'])
  })

  test('does not work after a restart', () => {
    const folder = tempFolder()
    const before = new TokenFile(folder)
    const after = new TokenFile(folder)
    expect(new SignIns(after).exchange(createSignInCode(before.token, before.instance)).kind).toBe('wrong')
  })

  test('that is used twice signs the first browser out, also after the server starts again', () => {
    const tokens = new TokenFile(tempFolder())
    const signIns = new SignIns(tokens)
    const [seen, own] = [
      createSignInCode(tokens.token, tokens.instance),
      createSignInCode(tokens.token, tokens.instance),
    ]
    const [thief, mine] = [cookieOf(signIns, seen), cookieOf(signIns, own)]
    expect(thief).not.toBe(mine)
    expect(signIns.exchange(seen).kind).toBe('used')
    for (const one of [signIns, new SignIns(new TokenFile(tokens.directory))])
      expect([one.accepts(thief), one.accepts(mine)]).toEqual([false, true])
  })
})

describe('a code in a browser that is signed in', () => {
  const signedIn = () => {
    const tokens = new TokenFile(tempFolder())
    const signIns = new SignIns(tokens)
    const code = (): string => createSignInCode(tokens.token, tokens.instance)
    return { signIns, code, mine: cookieOf(signIns, code()) }
  }

  test('is used up: it cannot be used again, and the attempt is detected', () => {
    const { signIns, code, mine } = signedIn()
    const seen = code()
    expect([signIns.exchange(seen, mine).kind, signIns.exchange(seen, mine).kind]).toEqual(['signed_in', 'signed_in'])
    expect(signIns.accepts(mine)).toBe(true)
    expect(signIns.exchange(seen).kind).toBe('used')
    expect(signIns.accepts(mine)).toBe(false)
  })

  test('that was used elsewhere before ends that session, and not this one', () => {
    const { signIns, code, mine } = signedIn()
    const seen = code()
    const thief = cookieOf(signIns, seen)
    expect(signIns.exchange(seen, mine).kind).toBe('used')
    expect([signIns.accepts(thief), signIns.accepts(mine)]).toEqual([false, true])
  })
})

describe('a cookie', () => {
  test('contains neither token nor code, survives a restart, and expires with the token', async () => {
    const tokens = new TokenFile(tempFolder())
    const code = createSignInCode(tokens.token, tokens.instance)
    const cookie = cookieOf(new SignIns(tokens), code)
    expect(cookie).not.toContain(tokens.token)
    expect(cookie).not.toContain(code.slice(0, 16))
    const later = new TokenFile(tokens.directory)
    const signIns = new SignIns(later)
    expect(signIns.accepts(cookie)).toBe(true)
    for (const wrong of [
      '',
      '.',
      cookie.slice(0, -3),
      `${cookie.slice(0, -3)}AAA`,
      cookie.split('.')[0] ?? '',
      `.${cookie}`,
    ])
      expect([wrong, signIns.accepts(wrong)]).toEqual([wrong, false])
    const inTwoYears = new SignIns(later, () => Date.now() + 2 * 31_536_000_000)
    expect(inTwoYears.accepts(cookie)).toBe(false)
    rotateToken(tokens.directory)
    await expect.poll(() => signIns.accepts(cookie)).toBe(false)
  })
})

describe('over HTTP', () => {
  const tokens = new TokenFile(tempFolder())
  const served = serve({}, { tokens, rate: { burst: 1e6, perSecond: 1e6 } })
  afterAll(() => served.close())
  const signIn = (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    served.ask('/login', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
  const sent = (code: string): string => JSON.stringify({ code })

  test('a code becomes a cookie, which scripts cannot read', async () => {
    const code = createSignInCode(tokens.token, tokens.instance)
    const answer = await signIn(sent(code))
    expect(answer.status).toBe(200)
    const cookie = answer.headers.get('set-cookie') ?? ''
    for (const part of ['fumi_4680=', 'HttpOnly', 'SameSite=Strict', 'Path=/']) expect(cookie).toContain(part)
    expect(cookie).not.toContain(tokens.token)
    const headers = { cookie: cookie.split(';')[0] ?? '' }
    expect((await served.ask('/api/sessions', { headers })).status).toBe(200)
    // The same link again in the same browser, which is already signed in.
    expect((await signIn(sent(code), headers)).status).toBe(200)
    expect((await served.ask('/api/sessions', { headers })).status).toBe(200)
    // In another browser: the link was disclosed.
    const again = await signIn(sent(code))
    expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
    expect(((await again.json()) as Reply).errors[0].detail).toContain('already used')
    expect((await served.ask('/api/sessions', { headers })).status).toBe(401)
  })

  test('reading a link does not use up the code, and a token in an address opens nothing', async () => {
    const code = createSignInCode(tokens.token, tokens.instance)
    const html = { accept: 'text/html' }
    for (const path of [
      `/login?code=${code}`,
      `/?code=${code}`,
      `/?token=${tokens.token}`,
      `/login?token=${tokens.token}`,
    ]) {
      const answer = await served.ask(path, { headers: html })
      expect([path, answer.headers.get('set-cookie'), answer.headers.get('location')]).toEqual([path, null, null])
      expect(await answer.text()).toContain('fumi token --link')
    }
    expect((await served.ask(`/?token=${tokens.token}`, { headers: html })).status).toBe(401)
    expect((await served.ask(`/api/sessions?token=${tokens.token}`)).status).toBe(401)
    expect((await signIn(sent(code))).status).toBe(200)
  })

  test('a browser that is not signed in gets instructions in its language', async () => {
    for (const [language, sentence] of [
      ['en-US,en;q=0.9', 'Run this in a terminal'],
      ['ja,en;q=0.5', '端末で次のコマンドを実行し'],
    ] as const) {
      const answer = await served.ask('/sessions/x', {
        headers: { accept: 'text/html,*/*', 'accept-language': language },
      })
      expect(answer.status).toBe(401)
      expect(await answer.text()).toContain(sentence)
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toMatch(/script-src 'sha256-[\w+/=]+';/)
      expect(policy).not.toContain('unsafe')
    }
    expect((await served.ask('/assets/x.js')).headers.get('content-type')).toContain('application/json')
  })

  test('other sites cannot sign a browser in', async () => {
    const code = createSignInCode(tokens.token, tokens.instance)
    for (const headers of [
      { origin: 'http://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'content-type': 'text/plain' },
      { host: 'evil.example' },
    ])
      expect((await signIn(sent(code), headers)).status).toBe(403)
    expect((await signIn(sent('x'.repeat(300_000)), { 'content-length': '300011' })).status).toBe(413)
    expect((await signIn('{')).status).toBe(401)
    expect((await signIn(sent(code), { origin: `http://${HOST}` })).status).toBe(200)
  })

  test('guessing codes is rate limited', async () => {
    const guessed = serve({}, { tokens, rate: { burst: 1e6, perSecond: 1e6 } })
    const statuses = new Set<number>()
    const post = (code: string): Promise<Response> =>
      guessed.ask('/login', { method: 'POST', body: sent(code), headers: { 'content-type': 'application/json' } })
    for (let at = 0; at < 40; at++) statuses.add((await post(createSignInCode(`guess-${at}`, tokens.instance))).status)
    expect(statuses).toEqual(new Set([401, 429]))
    // Wrong guesses do not lock out the owner of a valid link.
    expect((await post(createSignInCode(tokens.token, tokens.instance))).status).toBe(200)
    await guessed.close()
  })
})

describe('addresses that name another host', () => {
  test.each([
    '//evil.example/',
    '//evil.example/?token=TOKEN',
    '//evil.example/%2e%2e',
    '///evil.example/',
    '/\\evil.example/?token=TOKEN',
    '/%2F/evil.example/',
    '/%2f%2fevil.example',
    '/%5cevil.example',
    '/x\\..\\evil',
    'http://evil.example/?token=TOKEN',
    'http:evil.example',
    'https://localhost:PORT/?token=TOKEN',
    '/?token=TOKEN%0d%0aLocation:%20http://evil.example/',
    '/%0d%0aLocation:%20http://evil.example/?token=TOKEN',
    '/login?next=//evil.example/&token=TOKEN',
    '/?token=TOKEN',
  ])('%s leads nowhere', async (target) => {
    const testMachine = testHome()
    const server = await listen(testMachine.app, { port: 0, page: '', version: '1', idle: true })
    open.push(() => testMachine.app.close(), server.close)
    const asked = target.replace('TOKEN', readToken(testMachine.app.directory)).replace('PORT', String(server.port))
    const head = await headOf(server.port, asked)
    expect(head).toMatch(/^HTTP\/1\.1 (?:200|400|401|403|404) /)
    expect(head).not.toMatch(/^location:/im)
    expect(head).not.toMatch(/^set-cookie:/im)
    if (/^\/[/\\]|^\/%(?:2f|5c)|^http/i.test(target)) expect(head).toMatch(/^HTTP\/1\.1 400 /)
  })
})

/** Status line and headers, for a target that is sent unchanged. */
function headOf(port: number, target: string): Promise<string> {
  return new Promise((done, failed) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
      ),
    )
    socket.once('error', failed)
    let text = ''
    socket.on('data', (piece) => {
      text += String(piece)
    })
    socket.once('close', () => done(text.split('\r\n\r\n')[0] ?? ''))
  })
}

describe('fumi serve', () => {
  test.skipIf(process.platform !== 'linux')(
    'keeps the token out of every command line and of what it prints',
    async () => {
      const folder = tempFolder()
      const data = join(folder, 'fumi')
      const programs = join(folder, 'bin')
      mkdirSync(programs)
      // Acts as the browser: records the command lines of all processes, as another user could see them.
      writeFileSync(
        join(programs, 'xdg-open'),
        `#!/bin/sh\nfor one in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < "$one"; echo; done > "${folder}/all" 2>/dev/null\nprintf '%s\\n' "$@" > "${folder}/part"\nmv "${folder}/part" "${folder}/opened"\n`,
      )
      chmodSync(join(programs, 'xdg-open'), 0o755)
      const env = {
        ...process.env,
        NO_COLOR: '1',
        LC_ALL: 'C',
        HOME: folder,
        CODEX_HOME: join(folder, '.codex'),
        FUMI_HOME: data,
        DISPLAY: ':0',
        PATH: `${programs}:${process.env['PATH']}`,
      }
      const child = spawn(process.execPath, [fumiPath, 'serve', '--port', '0'], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      open.push(() => void child.kill('SIGKILL'))
      const ended = new Promise((done) => child.once('exit', done))
      let out = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece) => {
          out += String(piece)
        })
      await expect.poll(() => existsSync(join(folder, 'opened'))).toBe(true)
      const token = readToken(data)
      const opened = readFileSync(join(folder, 'opened'), 'utf8').trim()
      expect(opened).toMatch(/^http:\/\/localhost:\d+\/login#[\w-]{43}$/)
      expect(readFileSync(join(folder, 'all'), 'utf8')).not.toContain(token)
      const printed = /http:\S+/.exec(out)?.[0] ?? ''
      expect(out).not.toContain(token)
      expect(printed).not.toBe(opened)
      const link = (await printedBy(['token', '--link'], env)).trim()
      expect(link).toMatch(/^http:\/\/localhost:\d+\/login#[\w-]{43}$/)
      for (const one of [opened, printed, link]) expect([one, await signedInBy(one)]).toEqual([one, 200])
      expect(await signedInBy(`${new URL('/login', link)}#${createSignInCode('other', 'x')}`)).toBe(401)
      const [name = ''] = /\d+/.exec(new URL(link).port) ?? []
      expect(statSync(join(data, 'servers', `${name}.json`)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(data, 'servers', `${name}.json`), 'utf8')).not.toContain(token)
      expect(await printedBy(['token', '--header'], env)).toBe(`Authorization: Bearer ${token}\n`)
      child.kill('SIGTERM')
      await ended
      expect(out).not.toContain(token)
      expect(existsSync(join(data, 'servers', `${name}.json`))).toBe(false)
      expect(await printedBy(['token', '--link'], env, 4)).toContain('No server is running')
    },
  )
})

async function signedInBy(link: string): Promise<number> {
  const { origin, hash } = new URL(link)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${origin}/login`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ code: hash.slice(1) }),
  })
  await answer.text()
  return answer.status
}

/** Output of a command: standard output, or standard error if it should fail. */
async function printedBy(words: readonly string[], env: NodeJS.ProcessEnv, code = 0): Promise<string> {
  const child = spawn(process.execPath, [fumiPath, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  ;(code === 0 ? child.stdout : child.stderr).on('data', (piece) => {
    text += String(piece)
  })
  expect(await new Promise((done) => child.once('close', done))).toBe(code)
  return text
}

/** Devices and people: invitations, tokens, signatures, clocks, revocation, the provider. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { LIST_PRICES } from '../../src/model/prices.ts'
import { createDeviceKeys } from '../../src/team/client/membership.ts'
import { sendJoin, TeamClient } from '../../src/team/client/team-client.ts'
import { proofText, tokenText } from '../../src/team/protocol.ts'
import { listenTeam } from '../../src/team/server/listen-team.ts'
import { invite } from '../../src/team/server/people.ts'
import { onCleanup } from '../support/cleanup.ts'
import { tempFolder } from '../support/codex-log.ts'
import { testDatabase, withoutPostgres } from '../support/postgres.ts'
import { addMember, type Member, teamServer } from '../support/team.ts'

interface ErrorBody {
  readonly errors: readonly { readonly code: string; readonly meta?: { readonly reason?: string } }[]
}

describe.skipIf(withoutPostgres)(`devices of a team ${withoutPostgres ?? ''}`, async () => {
  if (withoutPostgres) return test.skip('need PostgreSQL')
  const server = await teamServer()
  const { database } = server

  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as ErrorBody & { data: never } }
  }
  const signedToken = (
    { membership }: Member,
    at = new Date().toISOString(),
    nonce = randomBytes(18).toString('base64url'),
  ) => {
    const { device, team, privateKey } = membership
    const signature = sign(null, Buffer.from(tokenText(team.id, device, at, nonce)), privateKey).toString('base64url')
    return { device, at, nonce, signature }
  }

  test('an invitation works once, and a wrong one not at all', async () => {
    const code = await invite(database, { name: 'Dora' }, undefined)
    const { publicKey } = createDeviceKeys()
    const body = { code: ` ${code.toLowerCase().replaceAll('-', ' ')} `, device: 'x', public_key: publicKey }
    const joined = await sendJoin(server.url, body)
    expect(joined.person.name).toBe('Dora')
    const nameless = { code: await invite(database, { is_admin: true }, undefined), device: 'x', user: 'ed' }
    expect((await sendJoin(server.url, { ...nameless, public_key: createDeviceKeys().publicKey })).person.name).toBe(
      'ed',
    )
    await expect(sendJoin(server.url, { ...body, public_key: createDeviceKeys().publicKey })).rejects.toThrow(
      'already used',
    )
    await expect(sendJoin(server.url, { ...body, code: 'AAAAA-AAAAA-AAAAA-AAAAA' })).rejects.toThrow('not valid')
    const expired = await invite(database, { name: 'Emil' }, undefined)
    await database.asServer((db) =>
      db.run(`UPDATE invitation SET expires_at = now() - interval '1 second' WHERE used_at IS NULL`),
    )
    await expect(sendJoin(server.url, { ...body, code: expired })).rejects.toThrow('expired')
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' })
    const rsa = await invite(database, { name: 'Fritz' }, undefined)
    await expect(
      sendJoin(server.url, { code: rsa, device: 'x', public_key: other.toString('base64url').slice(0, 200) }),
    ).rejects.toThrow('Ed25519')
  })

  test('a request for a token is accepted once, signed by the device, and near the time of the server', async () => {
    const member = await addMember(server, 'Greta')
    const request = signedToken(member)
    expect((await post('/api/team/token', request)).status).toBe(200)
    const again = await post('/api/team/token', request)
    expect([again.status, again.body.errors[0]?.meta?.reason]).toEqual([401, 'replayed'])
    const forged = { ...signedToken(member), signature: signedToken(member).signature }
    expect((await post('/api/team/token', forged)).body.errors[0]?.meta?.reason).toBe('signature')
    const late = signedToken(member, new Date(Date.now() - 301_000).toISOString())
    expect((await post('/api/team/token', late)).body.errors[0]?.meta?.reason).toBe('clock')
    const skewed = signedToken(member, new Date(Date.now() - 200_000).toISOString())
    expect((await post('/api/team/token', skewed)).status).toBe(200)
  })

  test('a change needs its own signature, over method, address and body', async () => {
    const member = await addMember(server, 'Hugo')
    const { membership } = member
    const { token } = (await post('/api/team/token', signedToken(member))).body.data as { token: string }
    const target = '/api/team/invite'
    const proof = (body: string, path = target): string => {
      const [at, nonce] = [new Date().toISOString(), randomBytes(18).toString('base64url')]
      const bodyHash = createHash('sha256').update(body).digest('hex')
      const text = proofText({ method: 'POST', target: path, bodyHash, token, at, nonce })
      return `${at} ${nonce} ${sign(null, Buffer.from(text), membership.privateKey).toString('base64url')}`
    }
    const authorization = `Bearer ${token}`
    const own = { is_own: true }
    const valid = proof(JSON.stringify(own))
    expect((await post(target, own, { authorization })).status).toBe(401)
    expect((await post(target, own, { authorization, 'fumi-proof': valid })).status).toBe(200)
    expect((await post(target, own, { authorization, 'fumi-proof': valid })).body.errors[0]?.meta?.reason).toBe(
      'replayed',
    )
    const other = { is_own: true, hours: 1 }
    expect((await post(target, other, { authorization, 'fumi-proof': proof(JSON.stringify(own)) })).status).toBe(401)
    expect(
      (await post(target, own, { authorization, 'fumi-proof': proof(JSON.stringify(own), '/api/team/leave') })).status,
    ).toBe(401)
    expect((await post(target, own, { authorization: `Bearer ${token}x` })).status).toBe(401)
  })

  test('a device whose clock is wrong learns the time of the server', async () => {
    const member = await addMember(server, 'Ida')
    // The clock of the process is right, so the request passes through a server that makes its times a day old.
    const proxy = createServer((request, response) => {
      let body = ''
      request.on('data', (part) => {
        body += part
      })
      request.on('end', async () => {
        const isFirst = request.url === '/api/team/token' && !seen.has('token')
        seen.add('token')
        const yesterday = signedToken(member, new Date(Date.now() - 86_400_000).toISOString())
        const answer = await fetch(new URL(request.url ?? '', server.url), {
          method: request.method ?? 'GET',
          headers: {
            'content-type': 'application/json',
            ...(request.headers.authorization && { authorization: request.headers.authorization }),
          },
          ...(request.method === 'POST' && { body: isFirst ? JSON.stringify(yesterday) : body }),
        })
        statuses.push(answer.status)
        response.writeHead(answer.status).end(await answer.text())
      })
    })
    const seen = new Set<string>()
    const statuses: number[] = []
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    onCleanup(() => proxy.close())
    const address = proxy.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const client = new TeamClient({ ...member.membership, url: `http://127.0.0.1:${port}/` })
    expect((await client.get<{ person: { name: string } }>('/me')).person.name).toBe('Ida')
    expect(statuses).toEqual([401, 200, 200])
  })

  test('a revoked device is refused at once, and only its owner or an administrator revokes it', async () => {
    const kim = await addMember(server, 'Kim')
    const lea = await addMember(server, 'Lea')
    const boss = await addMember(server, 'Max', { isAdmin: true })
    await expect(lea.client.post(`/devices/${kim.membership.device}/revoke`)).rejects.toThrow('No such device')
    expect((await lea.client.get<unknown[]>('/devices')).length).toBe(1)
    expect((await boss.client.get<unknown[]>('/devices')).length).toBeGreaterThan(2)
    await boss.client.post(`/devices/${kim.membership.device}/revoke`)
    await expect(kim.client.get('/me')).rejects.toThrow('revoked')
    // A browser may be on the lost device.
    expect((await kim.fetch('/api/sessions')).status).toBe(401)
    expect((await lea.fetch('/api/sessions')).status).toBe(200)
    await expect(lea.client.post('/invite', { name: 'Nina' })).rejects.toThrow('administrators')
    expect((await boss.client.post<{ code: string }>('/invite', { name: 'Nina' })).code).toMatch(
      /^[2-9A-Z]{5}(-[2-9A-Z]{5}){3}$/,
    )
  })

  test('guesses are limited by address', async () => {
    const url = await testDatabase()
    const other = await teamServer({ database: url })
    const statuses = new Set<number>()
    for (let at = 0; at < 30; at++) {
      const response = await fetch(new URL('/join', other.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: `GUESS${at}` }),
      })
      statuses.add(response.status)
    }
    expect([...statuses]).toEqual([401, 429])
  })

  test('other sites and other names are refused, and off loopback TLS is required', async () => {
    const member = await addMember(server, 'Olga')
    expect((await member.fetch('/api/sessions', { headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await member.fetch('/api/sessions', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
    const options = {
      database: 'postgres://localhost:1/none',
      port: 0,
      page: '',
      directory: tempFolder(),
      version: '0',
      prices: async () => LIST_PRICES,
    }
    await expect(listenTeam({ ...options, host: '0.0.0.0' })).rejects.toThrow('TLS is required')
    await expect(listenTeam({ ...options, host: '0.0.0.0', isBehindProxy: true })).rejects.toThrow('--url https')
  })

  test('people sign in by a provider if they are invited, or of an accepted domain', async () => {
    const provider = await mockProvider()
    const url = await testDatabase()
    const team = await teamServer({
      database: url,
      oidc: { issuer: provider.issuer, clientId: 'fumi', clientSecret: 'client secret' },
    })
    await addMember(team, 'Boss', { isAdmin: true })
    await invite(team.database, { name: 'Paula', email: 'paula@example.com' }, undefined)
    const signInAs = async (
      claims: object,
      isState = true,
    ): Promise<{ status: number; cookie: string; location: string | null }> => {
      provider.claims = claims
      const start = await fetch(new URL('/oidc/start', team.url), { redirect: 'manual' })
      const state = start.headers.get('set-cookie')?.split(';')[0] ?? ''
      const back = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
      const end = await fetch(back.headers.get('location') ?? '', {
        redirect: 'manual',
        headers: { cookie: isState ? state : state.replace('=', '=other') },
      })
      return {
        status: end.status,
        location: end.headers.get('location'),
        cookie:
          end.headers
            .getSetCookie()
            .find((one) => one.startsWith('fumi_team'))
            ?.split(';')[0] ?? '',
      }
    }
    const paula = { sub: '1', email: 'Paula@example.com', email_verified: true, name: 'P.' }
    const first = await signInAs(paula)
    expect([first.status, first.location]).toEqual([302, '/join'])
    expect((await signInAs(paula, false)).status).toBe(401)
    // Her first machine gets its code in the browser.
    const own = await fetch(new URL('/api/team/invite', team.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: first.cookie },
      body: JSON.stringify({ is_own: true }),
    })
    const { code } = ((await own.json()) as { data: { code: string } }).data
    const joined = await sendJoin(team.url, { code, device: 'laptop', public_key: createDeviceKeys().publicKey })
    expect(joined.person.name).toBe('Paula')
    const own_code = await invite(team.database, { is_own: true }, { ...joined.person, email: null })
    const again = { code: own_code, device: 'desk', public_key: createDeviceKeys().publicKey, name: 'Paula P.' }
    expect((await sendJoin(team.url, again)).person.name).toBe('Paula P.')
    team.server.context.forgetTeam()
    const health = await fetch(new URL('/api/health', team.url), { headers: { cookie: first.cookie } })
    expect(await health.json()).toMatchObject({ data: { team: { person: 'Paula P.' } } })
    provider.rotateKey()
    const second = await signInAs(paula)
    expect([second.status, second.location]).toEqual([302, '/'])
    expect((await signInAs({ sub: '2', email: 'stranger@example.com', email_verified: true })).status).toBe(403)
    expect((await signInAs({ sub: '3', email: 'paula@example.com', email_verified: false })).status).toBe(403)
    await team.database.asServer((db) =>
      db.run(`INSERT INTO setting VALUES ('policy', '{"domains":["corp.example"]}')`),
    )
    team.server.context.forgetTeam()
    expect(
      (await signInAs({ sub: '4', email: 'quinn@corp.example', email_verified: true, name: 'Quinn' })).status,
    ).toBe(302)
    const disguised = { sub: '5', email: '"q@corp.example"@evil.example', email_verified: true, name: 'Q' }
    expect((await signInAs(disguised)).status).toBe(403)
    expect((await signInAs({ ...disguised, email: 'q@corp.example@evil.example' })).status).toBe(403)
    for (const wrong of [{ aud: 'other' }, { iss: 'https://evil.example' }, { nonce: 'x' }, { exp: 1 }])
      expect((await signInAs({ ...paula, ...wrong })).status, JSON.stringify(wrong)).toBe(401)
    provider.isForging = true
    expect((await signInAs(paula)).status).toBe(401)
  })
})

const BASIC = `Basic ${Buffer.from('fumi:client%20secret').toString('base64')}`

/** An OpenID Connect provider that signs in at once, as the person that the test names. */
async function mockProvider() {
  let number = 0
  let { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const forger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const provider = {
    issuer: '',
    claims: {} as object,
    isForging: false,
    rotateKey() {
      number++
      ;({ privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' }))
    },
  }
  const codes = new Map<string, { readonly nonce: string; readonly challenge: string }>()
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '', provider.issuer)
    const send = (value: object): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    if (url.pathname === '/.well-known/openid-configuration')
      return send({
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/keys`,
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      })
    if (url.pathname === '/keys')
      return send({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: `k${number}`, alg: 'ES256' }] })
    if (url.pathname === '/authorize') {
      const code = randomBytes(9).toString('hex')
      codes.set(code, {
        nonce: url.searchParams.get('nonce') ?? '',
        challenge: url.searchParams.get('code_challenge') ?? '',
      })
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      response.writeHead(302, { location: back.href }).end()
      return
    }
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const form = new URLSearchParams(body)
      const known = codes.get(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (known?.challenge !== challenge || request.headers.authorization !== BASIC)
        return void response.writeHead(400).end('{}')
      const now = Math.floor(Date.now() / 1000)
      const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${encode({ alg: 'ES256', kid: `k${number}` })}.${encode({ iss: provider.issuer, aud: 'fumi', nonce: known.nonce, iat: now, exp: now + 60, ...provider.claims })}`
      const key = provider.isForging ? forger : privateKey
      send({
        id_token: `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`,
      })
    })
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
  onCleanup(() => http.close())
  const address = http.address()
  provider.issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return provider
}

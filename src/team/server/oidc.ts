/** Signs people in by an OpenID Connect provider: authorization code with PKCE, and the signature of the identity checked by its keys. */
import { createHash, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { fieldsOf, listOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../../server/api-problem.ts'
import { JOIN_PATH } from '../protocol.ts'
import { cookieNameAt, keepCookie } from './access.ts'
import { addAudit } from './audit.ts'
import type { TeamContext } from './context.ts'
import { addPerson, type Person, SELECT_PERSON, startSession } from './people.ts'

export interface OidcOptions {
  /** Address of the provider, below which its configuration is. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
}

interface Provider {
  readonly issuer: string
  readonly authorize: string
  readonly token: string
  readonly keys: string
  /** The client's secret is sent as a password, not in the form. */
  readonly isBasic: boolean
}

const CALLBACK_PATH = '/oidc/callback'
const STATE_COOKIE = 'fumi_oidc'
const STATE_SECONDS = 600
const FETCH_MS = 10_000
const MAX_SKEW_SECONDS = 300

/** The name of the provider, for the button. */
export const providerName = ({ issuer }: OidcOptions): string => new URL(issuer).host

export function oidcRoutes(
  api: OpenAPIHono,
  context: TeamContext,
  options: OidcOptions,
  { url, port, secure }: { readonly url: () => string; readonly port: () => number; readonly secure: boolean },
): void {
  let provider: Promise<Provider> | undefined
  const discover = (): Promise<Provider> => {
    provider ??= readProvider(options.issuer).catch((error: unknown) => {
      provider = undefined
      throw error
    })
    return provider
  }
  const redirectUri = (): string => new URL(CALLBACK_PATH, url()).href

  api.get('/oidc/start', async (c) => {
    const { authorize } = await discover()
    const [state, nonce, verifier] = [token(), token(), token()]
    setCookie(c, STATE_COOKIE, [state, nonce, verifier].join('.'), {
      httpOnly: true,
      sameSite: 'Lax',
      secure,
      path: '/oidc',
      maxAge: STATE_SECONDS,
    })
    const target = new URL(authorize)
    const parameters = {
      response_type: 'code',
      client_id: options.clientId,
      redirect_uri: redirectUri(),
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value)
    return c.redirect(target.href)
  })

  api.get(CALLBACK_PATH, async (c) => {
    const [state, nonce, verifier] = (getCookie(c, STATE_COOKIE) ?? '').split('.')
    deleteCookie(c, STATE_COOKIE, { path: '/oidc' })
    const code = c.req.query('code')
    if (
      state === undefined ||
      state === '' ||
      verifier === undefined ||
      nonce === undefined ||
      c.req.query('state') !== state ||
      code === undefined
    )
      throw failed()
    const found = await discover()
    const identity = await exchange(found, options, { code, verifier, redirectUri: redirectUri() })
    const claims = await checkIdentity(found, options, identity, nonce)
    const { cookie, hasDevice } = await signInByClaims(context, claims)
    keepCookie(c, cookieNameAt(port()), cookie, secure)
    // There the first machine gets its code.
    return c.redirect(hasDevice ? '/' : JOIN_PATH)
  })
}

const token = (): string => randomBytes(24).toString('base64url')

const failed = (): ApiProblem =>
  new ApiProblem(
    'unauthorized',
    phrase('The sign-in did not work. Start again.', 'サインインできませんでした。もう一度やり直してください。'),
  )

async function readProvider(issuer: string): Promise<Provider> {
  const fields = fieldsOf(await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
  const [authorize, tokens, keys, own] = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'issuer'].map(
    (name) => stringOf(fields?.[name]),
  )
  if (
    authorize === undefined ||
    tokens === undefined ||
    keys === undefined ||
    own?.replace(/\/$/, '') !== issuer.replace(/\/$/, '')
  )
    throw new AppError(
      'unusable_data',
      `${issuer} is not an OpenID Connect provider.`,
      `${issuer} は OpenID Connect のプロバイダーではありません。`,
    )
  const methods = listOf(fields?.['token_endpoint_auth_methods_supported'])
  const isBasic = methods.includes('client_secret_basic') && !methods.includes('client_secret_post')
  return { issuer: own, authorize, token: tokens, keys, isBasic }
}

async function fetchJson(url: string, init: RequestInit = {}): Promise<unknown> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) })
    if (response.ok) return await response.json()
    // A code that is old, or was used: the provider is there and refuses.
    if (response.status === 400 || response.status === 401) return undefined
  } catch {
    // Reported below.
  }
  throw new AppError('busy', `${new URL(url).host} does not answer.`, `${new URL(url).host} が応答しません。`)
}

async function exchange(
  { token: url, isBasic }: Provider,
  { clientId, clientSecret }: OidcOptions,
  { code, verifier, redirectUri }: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  })
  const headers: Record<string, string> = {}
  if (clientSecret !== undefined && isBasic) {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  } else if (clientSecret !== undefined) body.set('client_secret', clientSecret)
  const reply = fieldsOf(await fetchJson(url, { method: 'POST', body, headers }))
  const identity = stringOf(reply?.['id_token'])
  if (identity === undefined) throw failed()
  return identity
}

interface Claims {
  readonly subject: string
  readonly email: string | undefined
  readonly name: string | undefined
}

const ALGORITHMS: { readonly [name: string]: { readonly digest: string | null; readonly dsaEncoding?: 'ieee-p1363' } } =
  {
    RS256: { digest: 'sha256' },
    ES256: { digest: 'sha256', dsaEncoding: 'ieee-p1363' },
    EdDSA: { digest: null },
  }

async function checkIdentity(
  provider: Provider,
  { clientId }: OidcOptions,
  identity: string,
  nonce: string,
): Promise<Claims> {
  const [head = '', body = '', signature = ''] = identity.split('.')
  const header = parsePart(head)
  const claims = parsePart(body)
  // Asked for each time, so that new keys of the provider are known at once.
  const algorithm = ALGORITHMS[stringOf(header?.['alg']) ?? '']
  const keys = listOf(fieldsOf(await fetchJson(provider.keys))?.['keys'])
  const key =
    keys.find((one) => fieldsOf(one)?.['kid'] === header?.['kid']) ?? (keys.length === 1 ? keys[0] : undefined)
  if (!algorithm || !key) throw failed()
  const { digest, dsaEncoding } = algorithm
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' })
  const isSigned = verify(
    digest,
    Buffer.from(`${head}.${body}`),
    dsaEncoding ? { key: publicKey, dsaEncoding } : publicKey,
    Buffer.from(signature, 'base64url'),
  )
  const audience = claims?.['aud']
  const isForUs =
    audience === clientId ||
    (Array.isArray(audience) && audience.includes(clientId) && (audience.length === 1 || claims?.['azp'] === clientId))
  const now = Date.now() / 1000
  const isCurrent =
    (numberOf(claims?.['exp']) ?? 0) > now - MAX_SKEW_SECONDS &&
    (numberOf(claims?.['iat']) ?? now) < now + MAX_SKEW_SECONDS
  const subject = stringOf(claims?.['sub'])
  if (
    !isSigned ||
    !isForUs ||
    !isCurrent ||
    claims?.['iss'] !== provider.issuer ||
    claims['nonce'] !== nonce ||
    subject === undefined
  )
    throw failed()
  // An address that the provider did not check could be anybody's.
  const email = claims['email_verified'] === true ? stringOf(claims['email'])?.toLowerCase() : undefined
  return { subject: `${provider.issuer} ${subject}`, email, name: stringOf(claims['name']) }
}

function parsePart(part: string): ReturnType<typeof fieldsOf> {
  try {
    return fieldsOf(JSON.parse(Buffer.from(part, 'base64url').toString()))
  } catch {
    return undefined
  }
}

/** What follows the last `@`: a quoted name may contain one. */
const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)

/** Somebody known, somebody invited by address, or somebody of a domain that the team accepts. */
async function signInByClaims(
  context: TeamContext,
  { subject, email, name }: Claims,
): Promise<{ readonly cookie: string; readonly hasDevice: boolean }> {
  const { policy } = await context.team()
  return context.database.asServer(async (db) => {
    const isAccepted = email !== undefined && policy.domains.includes(domainOf(email))
    const known =
      (await db.first<Person>(`${SELECT_PERSON} WHERE subject = $1 AND left_at IS NULL`, [subject])) ??
      (email === undefined
        ? undefined
        : await db.first<Person>(`${SELECT_PERSON} WHERE email = $1 AND subject IS NULL AND left_at IS NULL`, [email]))
    const invited =
      email === undefined
        ? undefined
        : await db.first<{ person_name: string | null; is_admin: boolean }>(
            `UPDATE invitation SET used_at = now() WHERE email = $1 AND purpose = 'join' AND used_at IS NULL AND expires_at > now() AND person_id IS NULL
             RETURNING person_name, is_admin`,
            [email],
          )
    if (!known && !invited && !isAccepted)
      throw new ApiProblem(
        'forbidden',
        phrase(
          'You are not a member of this team. Ask for an invitation to your address.',
          'このチームのメンバーではありません。自分のアドレスへの招待を依頼してください。',
        ),
      )
    const person =
      known ??
      (await addPerson(db, {
        name: await freeName(db, invited?.person_name ?? name ?? email ?? 'member'),
        email: email ?? null,
        subject,
        is_admin: invited?.is_admin ?? false,
      }))
    await db.run('UPDATE person SET subject = $2 WHERE id = $1', [person.id, subject])
    await addAudit(db, { action: 'sign_in', person: person.id, detail: 'oidc' })
    context.forgetTeam()
    const device = await db.first('SELECT 1 FROM device WHERE person_id = $1 AND revoked_at IS NULL', [person.id])
    return { cookie: await startSession(db, person.id), hasDevice: device !== undefined }
  })
}

type Database = Parameters<Parameters<TeamContext['database']['asServer']>[0]>[0]

/** Two people may have one name. */
async function freeName(db: Database, wanted: string): Promise<string> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted} ${number}`
    if (!(await db.first('SELECT 1 FROM person WHERE lower(name) = lower($1) AND left_at IS NULL', [name]))) return name
  }
}

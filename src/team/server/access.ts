/** Who asks: a browser by its cookie, a device by its token; and the page on which a browser signs in. */
import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../../server/api-problem.ts'
import { createRateBucket } from '../../server/guard/check-request.ts'
import { createSignInPage } from '../../server/guard/sign-in-page.ts'
import { JOIN_PATH, PROOF_HEADER, TEAM_API } from '../protocol.ts'
import { addAudit } from './audit.ts'
import type { TeamContext } from './context.ts'
import { type CodeResult, invite, type Person, personOfCookie, signIn, signOut } from './people.ts'
import { checkProof, checkToken, isDeviceValid, MAX_SKEW_MS, type Refusal } from './tokens.ts'

export interface AccessOptions {
  readonly port: () => number
  readonly secure: boolean
  /** The provider by which people sign in, if there is one. */
  readonly provider?: string | undefined
  readonly addressOf: (c: Context) => string
}

export interface Caller {
  readonly person: Person
  /** Undefined: a browser. */
  readonly device: number | undefined
  /** For answers that take long: whether the sign-in or the device is still valid. */
  readonly isStillMember: () => Promise<boolean>
}

const SIGNED_IN_SECONDS = 30 * 86_400
export const cookieNameAt = (port: number): string => `fumi_team_${port}`
/** Need no identity: they establish it. */
const OPEN_PATHS: ReadonlySet<string> = new Set([`${TEAM_API}/join`, `${TEAM_API}/token`, `${TEAM_API}/about`])

export const callerOf = (c: Context): Caller => c.get('caller') as Caller

export function checkTeamAccess(context: TeamContext, options: AccessOptions): MiddlewareHandler {
  const guesses = createRateBucket({ burst: 20, perSecond: 0.2 })
  const limitGuesses = (c: Context): void => {
    if (!guesses.take(options.addressOf(c))) throw tooManyGuesses()
  }
  const { database } = context
  return async (c, next) => {
    const { method, path } = c.req
    const isRead = method === 'GET' || method === 'HEAD'
    const cookieName = cookieNameAt(options.port())
    const cookie = getCookie(c, cookieName)
    if (path === JOIN_PATH && isRead) {
      const isMember = cookie !== undefined && (await personOfCookie(database, cookie)) !== undefined
      return renderJoinPage(c, 200, options.provider, isMember)
    }
    if (path === JOIN_PATH && method === 'POST') {
      limitGuesses(c)
      const result = await signIn(database, await readCode(c))
      if (result.kind !== 'done') throw refuseCode(result)
      const { person, cookie: fresh } = result.value
      keepCookie(c, cookieName, fresh, options.secure)
      await database.asServer((db) => addAudit(db, { action: 'sign_in', person: person.id }))
      return c.json({
        data: { person: person.name, device_code: await invite(database, { is_own: true }, person) },
        meta: {},
      })
    }
    if (OPEN_PATHS.has(path)) {
      if (path !== `${TEAM_API}/about` && path !== `${TEAM_API}/token`) limitGuesses(c)
      return next()
    }
    const bearer = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
    if (bearer !== undefined) {
      c.set('caller', await deviceCaller(context, c, bearer, limitGuesses))
      return next()
    }
    const person = cookie === undefined ? undefined : await personOfCookie(database, cookie)
    if (person && path === '/logout' && method === 'POST') {
      await signOut(database, cookie ?? '')
      return c.json({ data: { status: 'ok' }, meta: {} })
    }
    if (person) {
      const isStillMember = async (): Promise<boolean> => (await personOfCookie(database, cookie ?? '')) !== undefined
      c.set('caller', { person, device: undefined, isStillMember } satisfies Caller)
      return next()
    }
    if (path === '/api/health') {
      c.set('stranger', true)
      return next()
    }
    const wantsPage = isRead && !path.startsWith('/api/') && /\btext\/html\b/.test(c.req.header('accept') ?? '')
    if (wantsPage) return renderJoinPage(c, 401, options.provider, false)
    throw new ApiProblem('unauthorized', NOT_SIGNED_IN)
  }
}

export function keepCookie(c: Context, name: string, value: string, secure: boolean): void {
  // Lax: the provider sends the browser back from another site.
  setCookie(c, name, value, { httpOnly: true, sameSite: 'Lax', secure, path: '/', maxAge: SIGNED_IN_SECONDS })
}

async function deviceCaller(
  context: TeamContext,
  c: Context,
  bearer: string,
  onWrong: (c: Context) => void,
): Promise<Caller> {
  const checked = await checkToken(context.database, await context.team(), bearer)
  if (checked.kind === 'refused') {
    // A token that was once valid is no guess: others may use the same address.
    if (checked.why === 'unknown') onWrong(c)
    throw refuseDevice(checked.why)
  }
  const { person, device } = checked.value
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    const body = Buffer.from(await c.req.raw.clone().arrayBuffer())
    const target = new URL(c.req.url)
    const proof = await checkProof(context.database, checked.value, c.req.header(PROOF_HEADER) ?? '', {
      method: c.req.method,
      target: target.pathname + target.search,
      bodyHash: createHash('sha256').update(body).digest('hex'),
    })
    if (proof !== 'ok') throw refuseDevice(proof)
  }
  return { person, device, isStillMember: () => isDeviceValid(context.database, device) }
}

const REFUSALS: { readonly [why in Refusal]: Phrase } = {
  unknown: phrase(
    'This device is unknown. Join the team again.',
    'この機器は登録されていません。もう一度チームに参加してください。',
  ),
  revoked: phrase(
    'This device was revoked. Ask an administrator of the team for an invitation.',
    'この機器は取り消されました。チームの管理者に招待を依頼してください。',
  ),
  expired: phrase('The token has expired.', 'トークンの期限が切れています。'),
  clock: phrase(
    `The clock of this device differs by more than ${MAX_SKEW_MS / 60_000} minutes from the server's. Set it.`,
    `この機器の時計がサーバーと ${MAX_SKEW_MS / 60_000} 分以上ずれています。時計を合わせてください。`,
  ),
  replayed: phrase('This request was sent before.', 'この要求はすでに送られています。'),
  signature: phrase('The signature of the request is wrong.', '要求の署名が正しくありません。'),
}

/** The client corrects its clock by the time of the server. */
export const refuseDevice = (why: Refusal): ApiProblem =>
  new ApiProblem('unauthorized', REFUSALS[why], { reason: why, server_time: new Date().toISOString() })

const CODES: { readonly [kind in Exclude<CodeResult<unknown>['kind'], 'done'>]: Phrase } = {
  wrong: phrase(
    'This code is not valid. Check it, or ask for a new invitation.',
    'このコードは使えません。確認するか、新しい招待を依頼してください。',
  ),
  used: phrase(
    'This code was already used. Ask for a new invitation.',
    'このコードはすでに使われています。新しい招待を依頼してください。',
  ),
  expired: phrase(
    'This code has expired. Ask for a new invitation.',
    'このコードは期限切れです。新しい招待を依頼してください。',
  ),
}

export const refuseCode = ({ kind }: { readonly kind: Exclude<CodeResult<unknown>['kind'], 'done'> }): ApiProblem =>
  new ApiProblem('unauthorized', CODES[kind], { reason: kind })

const tooManyGuesses = (): ApiProblem =>
  new ApiProblem(
    'too_many_requests',
    phrase(
      'Too many attempts. Wait a minute, then try again.',
      '試行が多すぎます。1 分ほど待ってから、もう一度試してください。',
    ),
  )

const NOT_SIGNED_IN = phrase(
  'Sign in: run fumi team status --link on a device of the team, and open the link.',
  'サインインしてください。チームに参加している機器で fumi team status --link を実行し、リンクを開きます。',
)

async function readCode(c: Context): Promise<string> {
  const body: unknown = await c.req.json().catch(() => undefined)
  return stringOf(fieldsOf(body)?.['code']) ?? ''
}

/** The code is behind the #, which browsers do not send: no proxy logs it. It is used only after a click, because link previews open pages. */
const SCRIPT = `
const given = location.hash.slice(1)
const isLink = given.startsWith('sign-in=')
const code = isLink ? given.slice(8) : given
const said = document.getElementById('said')
const connect = document.getElementById('connect')
const show = (fresh) => {
  document.getElementById('with').hidden = false
  document.getElementById('device').hidden = false
  document.getElementById('command').textContent = 'fumi team join ' + location.origin + '${JOIN_PATH}#' + fresh
}
const fail = (reply) => {
  const [error] = reply.errors
  said.textContent = document.documentElement.lang === 'ja' ? error.detail_ja : error.detail
}
connect?.addEventListener('click', () => {
  fetch('${TEAM_API}/invite', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ is_own: true }),
    credentials: 'same-origin',
  }).then(async (answer) => {
    const reply = await answer.json()
    if (!answer.ok) return fail(reply)
    show(reply.data.code)
    document.getElementById('sign').hidden = true
    connect.hidden = true
  }).catch((error) => { said.textContent = String(error) })
})
if (code !== '') {
  history.replaceState(null, '', location.pathname)
  document.getElementById('with').hidden = false
  document.getElementById('without').hidden = true
  document.getElementById('command').textContent = 'fumi team join ' + location.origin + '${JOIN_PATH}#' + code
  document.getElementById('device').hidden = isLink
}
document.getElementById('sign').addEventListener('click', () => {
  fetch('${JOIN_PATH}', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
    credentials: 'same-origin',
  }).then(async (answer) => {
    const reply = await answer.json()
    if (answer.ok) {
      document.getElementById('command').textContent = 'fumi team join ' + location.origin + '${JOIN_PATH}#' + reply.data.device_code
      if (isLink) return location.replace('/')
      document.getElementById('sign').hidden = true
      document.getElementById('open').hidden = false
      return
    }
    fail(reply)
  }).catch((error) => { said.textContent = String(error) })
})
`
const STYLE = `
:root { color-scheme: light dark }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 12vh auto; padding: 0 1rem }
code { display: block; padding: .75rem; border: 1px solid; border-radius: 4px; overflow-wrap: anywhere }
button, .button { font: inherit; padding: .4rem 1rem; display: inline-block }
`
const joinPage = createSignInPage({ script: SCRIPT, style: STYLE })

function renderJoinPage(
  c: Context,
  status: 200 | 401,
  provider: string | undefined,
  /** Signed in here: only this machine may be missing. */
  isMember: boolean,
): Response {
  return joinPage(c, status, (isJapanese) => {
    const say = (en: string, ja: string): string => (isJapanese ? ja : en)
    const byProvider =
      provider === undefined || isMember
        ? ''
        : `<p><a class="button" href="/oidc/start">${say(`Sign in with ${escapeHtml(provider)}`, `${escapeHtml(provider)} でサインイン`)}</a></p>`
    return `<p id="said" role="status"></p>
<div id="with" hidden>
<div id="device">
<p>${say('To share sessions from this machine, run this in a terminal:', 'このマシンの会話を共有するには、端末で次を実行します。')}</p>
<code id="command"></code>
</div>
<p><button id="sign" type="button">${say('Sign in to the page of the team in this browser', 'このブラウザーでチームのページにサインイン')}</button>
<a id="open" class="button" href="/" hidden>${say('Open the page', 'ページを開く')}</a></p>
</div>
<div id="without">
${
  isMember
    ? `<p><a class="button" href="/">${say('Open the page', 'ページを開く')}</a>
<button id="connect" type="button">${say('Share sessions from a machine of yours', '自分のマシンの会話を共有する')}</button></p>`
    : `<p>${say('Open the link of your invitation, or run this on a machine that has joined the team:', '招待のリンクを開くか、チームに参加しているマシンで次を実行してください。')}</p>
<code>fumi team status --link</code>`
}
</div>
${byProvider}`
  })
}

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

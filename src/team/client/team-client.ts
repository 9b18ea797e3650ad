/** Requests of a device to the server of its team: signed, compressed, repeated where that is safe, no faster than allowed. */
import { createHash, randomBytes, sign } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import {
  type JoinBody,
  type JoinReply,
  PROOF_HEADER,
  proofText,
  TEAM_API,
  type TokenReply,
  tokenText,
} from '../protocol.ts'
import type { Membership } from './membership.ts'

export interface TeamClientOptions {
  /** Bytes per second that are sent at most. */
  readonly rate?: number | undefined
  /** How often a request is repeated that the server did not answer. */
  readonly tries?: number
  readonly signal?: AbortSignal | undefined
}

const DEFAULT_TRIES = 6
const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 10_000
const REQUEST_MS = 120_000
/** Before a token expires, another one is requested. */
const TOKEN_MARGIN_MS = 60_000
const MIN_COMPRESSED_BYTES = 500

/** The server answered that it will not do it. */
export class TeamRefusal extends AppError {
  readonly reason: string | undefined
  readonly status: number

  constructor(status: number, en: string, ja: string, reason: string | undefined) {
    super(
      status === 401 || status === 403 ? 'no_permission' : status === 404 ? 'not_found' : 'bad_usage',
      phrase(en, ja),
    )
    this.status = status
    this.reason = reason
  }
}

export class TeamClient {
  readonly #membership: Membership
  readonly #options: TeamClientOptions
  #token: { readonly text: string; readonly until: number } | undefined
  /** How far the clock of the server is ahead of ours. */
  #ahead = 0
  #free = 0

  constructor(membership: Membership, options: TeamClientOptions = {}) {
    this.#membership = membership
    this.#options = options
  }

  get<Reply>(path: string): Promise<Reply> {
    return this.#request<Reply>('GET', path, undefined)
  }

  post<Reply>(path: string, body: object = {}): Promise<Reply> {
    return this.#request<Reply>('POST', path, JSON.stringify(body))
  }

  /** @param lines of JSON */
  postLines<Reply>(path: string, lines: readonly string[]): Promise<Reply> {
    return this.#request<Reply>('POST', path, lines.join('\n'))
  }

  async #request<Reply>(method: 'GET' | 'POST', path: string, text: string | undefined): Promise<Reply> {
    const bytes = text === undefined ? undefined : Buffer.from(text)
    const isCompressed = bytes !== undefined && bytes.length > MIN_COMPRESSED_BYTES
    const body = isCompressed && bytes ? gzipSync(bytes) : bytes
    const { tries = DEFAULT_TRIES } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#send<Reply>(method, path, body, isCompressed)
      } catch (error) {
        const isLast = attempt >= tries || this.#options.signal?.aborted === true
        if (error instanceof TeamRefusal) {
          const isOutdated = ['expired', 'clock', 'replayed'].includes(error.reason ?? '')
          if (isOutdated) this.#token = undefined
          if (!isOutdated || attempt >= 3) throw error
          continue
        }
        if (isLast) throw error
        await this.#wait(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2))
      }
    }
  }

  async #send<Reply>(
    method: 'GET' | 'POST',
    path: string,
    body: Buffer | undefined,
    isCompressed: boolean,
  ): Promise<Reply> {
    const target = `${TEAM_API}${path}`
    const token = await this.#currentToken()
    const headers: Record<string, string> = { authorization: `Bearer ${token}` }
    if (method === 'POST') {
      headers['content-type'] = 'application/json'
      const [at, nonce] = this.#stamp()
      const bodyHash = createHash('sha256')
        .update(body ?? '')
        .digest('hex')
      headers[PROOF_HEADER] = `${at} ${nonce} ${this.#sign(proofText({ method, target, bodyHash, token, at, nonce }))}`
    }
    if (isCompressed) headers['content-encoding'] = 'gzip'
    if (body) await this.#spend(body.length)
    return this.#fetch<Reply>(target, { method, headers, ...(body && { body: new Uint8Array(body) }) })
  }

  async #currentToken(): Promise<string> {
    if (this.#token && this.#token.until - TOKEN_MARGIN_MS > performance.now()) return this.#token.text
    const { device, team } = this.#membership
    const [at, nonce] = this.#stamp()
    const signature = this.#sign(tokenText(team.id, device, at, nonce))
    const { token, expires_in } = await this.#fetch<TokenReply>(`${TEAM_API}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ device, at, nonce, signature }),
    })
    this.#token = { text: token, until: performance.now() + expires_in * 1000 }
    return token
  }

  /** A time by the server's clock, and a number that is used once. */
  #stamp(): readonly [at: string, nonce: string] {
    return [new Date(Date.now() + this.#ahead).toISOString(), randomBytes(18).toString('base64url')]
  }

  #sign(text: string): string {
    return sign(null, Buffer.from(text), this.#membership.privateKey).toString('base64url')
  }

  async #fetch<Reply>(target: string, init: RequestInit): Promise<Reply> {
    try {
      return await fetchReply<Reply>(new URL(target, this.#membership.url).href, init, this.#options.signal)
    } catch (error) {
      if (error instanceof ClockRefusal) this.#ahead = error.serverTime - Date.now()
      throw error
    }
  }

  /** Waits until sending as many bytes keeps the rate. */
  async #spend(bytes: number): Promise<void> {
    const { rate } = this.#options
    if (rate === undefined) return
    const now = performance.now()
    const start = Math.max(now, this.#free)
    this.#free = start + (bytes / rate) * 1000
    if (start > now) await this.#wait(start - now)
  }

  async #wait(milliseconds: number): Promise<void> {
    const { signal } = this.#options
    await setTimeout(milliseconds, undefined, { ...(signal && { signal }) }).catch(() => {})
  }
}

/** The server says what time it is there. */
class ClockRefusal extends TeamRefusal {
  readonly serverTime: number

  constructor(en: string, ja: string, serverTime: number) {
    super(401, en, ja, 'clock')
    this.serverTime = serverTime
  }
}

async function fetchReply<Reply>(url: string, init: RequestInit, signal?: AbortSignal): Promise<Reply> {
  const timeout = AbortSignal.timeout(REQUEST_MS)
  let response: Response
  let reply: unknown
  try {
    response = await fetch(url, {
      ...init,
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    reply = await response.json()
  } catch (error) {
    throw unreachable(url, error)
  }
  const fields = fieldsOf(reply)
  if (response.ok) return fields?.['data'] as Reply
  const error = fieldsOf(listOf(fields?.['errors'])[0])
  const meta = fieldsOf(error?.['meta'])
  const [en = `HTTP ${response.status}`, ja = en] = [error?.['detail'], error?.['detail_ja']].map(stringOf)
  // The server is busy or restarting: the request is repeated.
  if (response.status >= 500 || response.status === 429) throw new AppError('busy', en, ja)
  const reason = stringOf(meta?.['reason'])
  const time = Date.parse(stringOf(meta?.['server_time']) ?? '')
  if (reason === 'clock' && !Number.isNaN(time)) throw new ClockRefusal(en, ja, time)
  throw new TeamRefusal(response.status, en, ja, reason)
}

function unreachable(url: string, error: unknown): AppError {
  const { host } = new URL(url)
  const cause =
    error instanceof Error && error.cause instanceof Error ? error.cause.message || error.cause.name : String(error)
  return new AppError(
    'busy',
    `The server of the team, ${host}, cannot be reached (${cause}). What is missing is sent the next time.`,
    `チームのサーバー ${host} に接続できません（${cause}）。届いていないものは次回に送ります。`,
  )
}

/** An invitation as it was printed: an address with a code behind the #. */
export function parseInvitation(text: string): { readonly url: string; readonly code: string } | undefined {
  try {
    const { origin, hash, protocol } = new URL(text.trim())
    if (!['https:', 'http:'].includes(protocol)) return undefined
    return { url: `${origin}/`, code: hash.slice(1) }
  } catch {
    return undefined
  }
}

/** A code must not cross a network in the clear. */
export function assertSecureAddress(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || ['localhost', '[::1]'].includes(hostname) || /^127\./.test(hostname)) return
  throw new AppError(
    'bad_usage',
    `${url} is not encrypted. Join with an https address.`,
    `${url} は暗号化されていません。https のアドレスで参加してください。`,
  )
}

export const sendJoin = (url: string, body: JoinBody): Promise<JoinReply> =>
  fetchReply<JoinReply>(new URL(`${TEAM_API}/join`, url).href, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

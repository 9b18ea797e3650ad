/** Signs browsers in: a code that works once and for a minute is exchanged for a cookie. Neither contains the token. */
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { warn } from '../../lib/logger.ts'
import { AppError } from '../../model/error.ts'
import { isSameSecret, type TokenFile } from './token.ts'

export const SIGN_IN_CODE_SECONDS = 60
const SESSION_SECONDS = 31_536_000

const NONCE_BYTES = 12
const MAC_BYTES = 16
const ID_BYTES = 16

/**
 * A new code. Whoever can read the token can make one, so a second process of the same user needs no request to the
 * server, and sends nothing to whatever listens at its port.
 * @param instance of the server that is to accept it
 */
export function createSignInCode(token: string, instance: string, now = Date.now()): string {
  const head = Buffer.concat([randomBytes(NONCE_BYTES), encodeSeconds(Math.floor(now / 1000) + SIGN_IN_CODE_SECONDS)])
  return Buffer.concat([head, codeMac(token, instance, head)]).toString('base64url')
}

export const signInLink = (url: string, code: string): string => `${url}login#${code}`

export type SignInResult =
  | { readonly kind: 'session'; readonly cookie: string }
  /** The browser has a session of its own, which goes on. */
  | { readonly kind: 'signed_in' }
  /** `used`: somebody signed in with it before. */
  | { readonly kind: 'wrong' | 'expired' | 'used' }

interface UsedCode {
  readonly until: number
  readonly session: string
}

export class SignIns {
  readonly #tokens: TokenFile
  readonly #now: () => number
  /** By their random part, until they expire. */
  readonly #used = new Map<string, UsedCode>()
  readonly #revoked: Set<string>

  constructor(tokens: TokenFile, now: () => number = Date.now) {
    this.#tokens = tokens
    this.#now = now
    this.#revoked = new Set(readRevoked(tokens.directory))
  }

  /**
   * A code that comes a second time, from another browser, was seen by somebody else: the session that used it first ends.
   * @param cookie an accepted one: its browser needs no new session, but uses the code up all the same
   */
  exchange(code: string, cookie?: string): SignInResult {
    const { token, instance } = this.#tokens
    const bytes = Buffer.from(code, 'base64url')
    const head = bytes.subarray(0, NONCE_BYTES + 4)
    const mac = bytes.subarray(NONCE_BYTES + 4)
    if (bytes.length !== NONCE_BYTES + 4 + MAC_BYTES || !isSameSecret(mac, codeMac(token, instance, head)))
      return { kind: 'wrong' }
    const now = this.#now() / 1000
    const until = head.readUInt32BE(NONCE_BYTES)
    // A code from far ahead was made before the clock was set back.
    if (until < now || until > now + SIGN_IN_CODE_SECONDS + 1) return { kind: 'expired' }
    for (const [nonce, used] of this.#used) if (used.until < now) this.#used.delete(nonce)
    const nonce = head.toString('base64url')
    const before = this.#used.get(nonce)
    const own = cookie?.split('.', 1)[0]
    if (own !== undefined && (before === undefined || before.session === own)) {
      this.#used.set(nonce, { until, session: own })
      return { kind: 'signed_in' }
    }
    if (before) {
      this.#revoke(before.session)
      return { kind: 'used' }
    }
    const session = Buffer.concat([randomBytes(ID_BYTES), encodeSeconds(Math.floor(now))])
    this.#used.set(nonce, { until, session: session.toString('base64url') })
    return { kind: 'session', cookie: `${session.toString('base64url')}.${sessionMac(token, session)}` }
  }

  accepts(cookie: string): boolean {
    const [id = '', mac = ''] = cookie.split('.', 2)
    const session = Buffer.from(id, 'base64url')
    if (session.length !== ID_BYTES + 4 || !isSameSecret(mac, sessionMac(this.#tokens.token, session))) return false
    if (session.readUInt32BE(ID_BYTES) + SESSION_SECONDS < this.#now() / 1000) return false
    return !this.#revoked.has(session.toString('base64url'))
  }

  #revoke(session: string): void {
    if (this.#revoked.has(session)) return
    this.#revoked.add(session)
    warn('A sign-in link was used twice. The browser that used it first is signed out.')
    try {
      replaceOwnFile(revokedPath(this.#tokens.directory), `${[...this.#revoked].slice(-MAX_REVOKED).join('\n')}\n`)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      warn(error.message)
    }
  }
}

const MAX_REVOKED = 1000

const revokedPath = (directory: string): string => join(directory, 'revoked-sessions')

function readRevoked(directory: string): readonly string[] {
  try {
    return readRegularFile(revokedPath(directory)).toString().split('\n').slice(-MAX_REVOKED).filter(Boolean)
  } catch {
    return []
  }
}

function encodeSeconds(time: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(time)
  return bytes
}

const codeMac = (token: string, instance: string, head: Buffer): Buffer =>
  createHmac('sha256', token).update(`code ${instance} `).update(head).digest().subarray(0, MAC_BYTES)

const sessionMac = (token: string, session: Buffer): string =>
  createHmac('sha256', token).update('session ').update(session).digest('base64url')

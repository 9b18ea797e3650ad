/**
 * The API token, one per data directory, and the sign-in of browsers: a code, valid once and for a minute, is exchanged
 * for a cookie. Neither contains the token.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError, toReadError } from '../../lib/files/system-error.ts'
import { warn } from '../../lib/logger.ts'
import { AppError } from '../../model/error.ts'

/** `memory`: reads what agents recall, at one path, and nothing else. */
export type TokenScope = 'api' | 'memory'

const FILE_NAMES: { readonly [scope in TokenScope]: string } = { api: 'token', memory: 'memory-token' }

const tokenPath = (directory: string, scope: TokenScope = 'api'): string => join(directory, FILE_NAMES[scope])

/** Creates the token on first use. */
export function readToken(directory: string, scope: TokenScope = 'api'): string {
  return readTokenFile(directory, scope) ?? rotateToken(directory, scope)
}

/** Replaces the token: the old one becomes invalid. */
export function rotateToken(directory: string, scope: TokenScope = 'api'): string {
  const token = randomBytes(32).toString('base64url')
  replaceOwnFile(tokenPath(directory, scope), `${token}\n`)
  return token
}

/** @returns whether there was one */
export function revokeMemoryToken(directory: string): boolean {
  const path = tokenPath(directory, 'memory')
  const isThere = statOf(path) !== undefined
  rmSync(path, { force: true })
  return isThere
}

/** False if no token was created, or if it was revoked. Changes count at once. */
export function isMemoryToken(directory: string, given: string): boolean {
  const token = readTokenFile(directory, 'memory')
  return token !== undefined && isSameSecret(given, token)
}

function readTokenFile(directory: string, scope: TokenScope): string | undefined {
  try {
    const text = readRegularFile(tokenPath(directory, scope)).toString().trim()
    return TOKEN_PATTERN.test(text) ? text : undefined
  } catch (error) {
    // Creating the token reports a folder that is missing or a file.
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw toReadError(tokenPath(directory, scope), error)
  }
}

const TOKEN_PATTERN = /^[\w-]{20,200}$/

/** The current token. A change by another process is noticed within a second. */
export class TokenFile {
  readonly directory: string
  /** Random for each start: sign-in codes are valid for one run of one server. */
  readonly instance = randomBytes(12).toString('base64url')
  #token: string
  #stamp: string
  #checkedAt = 0

  constructor(directory: string) {
    this.directory = directory
    this.#token = readToken(directory)
    this.#stamp = readStamp(directory)
  }

  get token(): string {
    // A monotonic clock: the time of day may jump back.
    const now = performance.now()
    if (now - this.#checkedAt < 1000) return this.#token
    this.#checkedAt = now
    const stamp = readStamp(this.directory)
    if (stamp === this.#stamp) return this.#token
    this.#token = readToken(this.directory)
    this.#stamp = readStamp(this.directory)
    return this.#token
  }

  accepts(given: string): boolean {
    return isSameSecret(given, this.token)
  }
}

function readStamp(directory: string): string {
  const found = statOf(tokenPath(directory))
  return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ''
}

/** In constant time. */
function isSameSecret(a: string | Buffer, b: string | Buffer): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}

const SIGN_IN_CODE_SECONDS = 60
const SESSION_SECONDS = 31_536_000

const NONCE_BYTES = 12
const MAC_BYTES = 16
const ID_BYTES = 16

/**
 * Creates a code. Any process that can read the token can create one, so a second process of the same user needs no
 * request to the server, and sends nothing to an unknown program on its port.
 * @param instance of the server that is to accept it
 */
export function createSignInCode(token: string, instance: string, now = Date.now()): string {
  const head = Buffer.concat([randomBytes(NONCE_BYTES), encodeSeconds(Math.floor(now / 1000) + SIGN_IN_CODE_SECONDS)])
  return Buffer.concat([head, codeMac(token, instance, head)]).toString('base64url')
}

export const signInLink = (url: string, code: string): string => `${url}login#${code}`

export type SignInResult =
  | { readonly kind: 'session'; readonly cookie: string }
  /** The browser keeps the session that it has. */
  | { readonly kind: 'signed_in' }
  /** `used`: the code was used before. */
  | { readonly kind: 'wrong' | 'expired' | 'used' }

interface UsedCode {
  readonly until: number
  readonly session: string
}

export class SignIns {
  readonly #tokens: TokenFile
  readonly #now: () => number
  /** By nonce, until they expire. */
  readonly #used = new Map<string, UsedCode>()
  readonly #revoked: Set<string>

  constructor(tokens: TokenFile, now: () => number = Date.now) {
    this.#tokens = tokens
    this.#now = now
    this.#revoked = new Set(readRevoked(tokens.directory))
  }

  /**
   * A code used a second time, by another browser, has leaked: the session that used it first ends.
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
    // A code from the future was created before the clock was set back.
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

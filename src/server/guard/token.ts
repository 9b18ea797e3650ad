/** The token that opens the API: one for each data directory, readable by its user alone. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { statOf } from '../../lib/files/safe-fs.ts'
import { isSystemError, toReadError } from '../../lib/files/system-error.ts'

const tokenPath = (directory: string): string => join(directory, 'token')

/** Made when it is first asked for. */
export function readToken(directory: string): string {
  return readTokenFile(directory) ?? rotateToken(directory)
}

/** Whoever knows only the old one is out. */
export function rotateToken(directory: string): string {
  const token = randomBytes(32).toString('base64url')
  replaceOwnFile(tokenPath(directory), `${token}\n`)
  return token
}

function readTokenFile(directory: string): string | undefined {
  try {
    const text = readRegularFile(tokenPath(directory)).toString().trim()
    return TOKEN_PATTERN.test(text) ? text : undefined
  } catch (error) {
    // Where its folder is missing or a file, the attempt to make it says so.
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw toReadError(tokenPath(directory), error)
  }
}

const TOKEN_PATTERN = /^[\w-]{20,200}$/

/** The token as it is now: one that another process made is known within a second. */
export class TokenFile {
  readonly directory: string
  /** Differs each time a server starts: sign-in codes are made for one run of one server. */
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
    // Not the time of day: after a jump backwards a new token would not be noticed until the clock has caught up.
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

/** Takes as long for any guess. */
export function isSameSecret(a: string | Buffer, b: string | Buffer): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}

/** The token that opens the API: one for each data directory, readable by its user alone. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../lib/disk/replace-file.ts'
import { statOf } from '../../lib/files/look.ts'
import { isSystemError } from '../../lib/files/system-error.ts'

const pathIn = (directory: string): string => join(directory, 'token')

/** Made when it is first asked for. */
export function readToken(directory: string): string {
  return tokenIn(directory) ?? rotateToken(directory)
}

/** Whoever knows only the old one is out. */
export function rotateToken(directory: string): string {
  const token = randomBytes(32).toString('base64url')
  replaceFile(pathIn(directory), `${token}\n`)
  return token
}

function tokenIn(directory: string): string | undefined {
  try {
    const text = readFileSync(pathIn(directory), 'utf8').trim()
    return TOKEN.test(text) ? text : undefined
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}

const TOKEN = /^[\w-]{20,200}$/

/** The token as it is now: one that another process made is known within a second. */
export class TokenKeeper {
  readonly #directory: string
  #token: string
  #stamp: string
  #looked = 0

  constructor(directory: string) {
    this.#directory = directory
    this.#token = readToken(directory)
    this.#stamp = stampOf(directory)
  }

  get token(): string {
    const now = Date.now()
    if (now - this.#looked < 1000) return this.#token
    this.#looked = now
    const stamp = stampOf(this.#directory)
    if (stamp === this.#stamp) return this.#token
    this.#token = readToken(this.#directory)
    this.#stamp = stampOf(this.#directory)
    return this.#token
  }

  accepts(given: string): boolean {
    return isSame(given, this.token)
  }

  /** What the browser keeps: it opens as much as the token, but does not tell it. */
  get cookie(): string {
    return createHmac('sha256', this.token).update('cookie').digest('base64url')
  }

  acceptsCookie(given: string): boolean {
    return isSame(given, this.cookie)
  }
}

function stampOf(directory: string): string {
  const found = statOf(pathIn(directory))
  return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ''
}

/** Takes as long for any guess. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())
}

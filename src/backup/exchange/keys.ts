/** The keys of an exchange folder: random ones, each in a file that a passphrase opens. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from 'node:crypto'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { listEntries } from '../../lib/files/safe-fs.ts'
import { fieldsOf, numberOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'

const KEYS_FOLDER = 'keys'
const KEY_FILE = /^([\da-f]{16})\.json$/
const KEY_FORMAT = 'fumibako exchange key'
/** 128 MB and about half a second for each guess. */
const SCRYPT = { N: 1 << 17, r: 8, p: 1 }
const MAX_SCRYPT_BYTES = 512 << 20
/** Anyone who can write to the folder can put a key file there that takes endless time to try. */
const MAX_SCRYPT_RUNS = 4
const MAX_KEY_FILES = 16
const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16

export interface ExchangeKey {
  /** Names the key in the files that it sealed. */
  readonly id: string
  readonly seal: Buffer
  readonly address: Buffer
}

function deriveKey(id: string, master: Buffer): ExchangeKey {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', master, '', `fumibako exchange ${purpose}`, KEY_BYTES))
  return { id, seal: derive('encryption'), address: derive('addresses') }
}

/** Name of a piece, which reveals nothing of its content. @param hash SHA-256 of the content, hex */
export const addressOf = ({ address }: ExchangeKey, hash: string): string =>
  createHmac('sha256', address).update(Buffer.from(hash, 'hex')).digest('hex')

/** All keys that the passphrase opens, by id. Throws `bad_usage` if there are some and it opens none. */
export function openKeys(folder: string, passphrase: string): ReadonlyMap<string, ExchangeKey> {
  const ids = listEntries(join(folder, KEYS_FOLDER)).flatMap(({ name }) => KEY_FILE.exec(name)?.[1] ?? [])
  const keys = new Map<string, ExchangeKey>()
  for (const id of ids.sort().slice(0, MAX_KEY_FILES)) {
    const master = openKeyFile(join(folder, KEYS_FOLDER, `${id}.json`), id, passphrase)
    if (master) keys.set(id, deriveKey(id, master))
  }
  if (ids.length > 0 && keys.size === 0)
    throw new AppError(
      'bad_usage',
      `The passphrase does not open ${folder}. Use the one with which the folder was created.`,
      `このパスフレーズでは ${folder} を開けません。フォルダーを作ったときのものを指定してください。`,
    )
  return keys
}

const MIN_PASSPHRASE_LENGTH = 8

export function createKey(folder: string, passphrase: string): ExchangeKey {
  if (passphrase.length < MIN_PASSPHRASE_LENGTH)
    throw new AppError(
      'bad_usage',
      `The passphrase needs at least ${MIN_PASSPHRASE_LENGTH} characters.`,
      `パスフレーズは ${MIN_PASSPHRASE_LENGTH} 文字以上にしてください。`,
    )
  const id = randomBytes(8).toString('hex')
  const master = randomBytes(KEY_BYTES)
  const salt = randomBytes(16)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', passphraseKey(passphrase, salt, SCRYPT), nonce)
  cipher.setAAD(Buffer.from(id))
  const key = Buffer.concat([cipher.update(master), cipher.final(), cipher.getAuthTag()])
  const base64 = (bytes: Buffer): string => bytes.toString('base64')
  const kdf = { name: 'scrypt', ...SCRYPT, salt: base64(salt) }
  const content = { format: KEY_FORMAT, version: 1, kdf, nonce: base64(nonce), key: base64(key) }
  const path = join(folder, KEYS_FOLDER, `${id}.json`)
  writeFileAtomically(path, [`${JSON.stringify(content, null, 2)}\n`], { folders: 0o700 })
  return deriveKey(id, master)
}

type ScryptParameters = typeof SCRYPT

const passphraseKey = (passphrase: string, salt: Buffer, parameters: ScryptParameters): Buffer =>
  scryptSync(passphrase.normalize('NFC'), salt, KEY_BYTES, { ...parameters, maxmem: MAX_SCRYPT_BYTES })

/** Undefined if the passphrase does not open it, or if it is not a key file of a version that we know. */
function openKeyFile(path: string, id: string, passphrase: string): Buffer | undefined {
  const content = fieldsOf(parseStructure(readRegularFile(path).toString()))
  const kdf = fieldsOf(content?.['kdf'])
  const bytes = (value: unknown): Buffer => Buffer.from(stringOf(value) ?? '', 'base64')
  const [N, r, p] = [numberOf(kdf?.['N']), numberOf(kdf?.['r']), numberOf(kdf?.['p'])]
  if (content?.['format'] !== KEY_FORMAT || N === undefined || r === undefined || p === undefined) return undefined
  if (p > MAX_SCRYPT_RUNS) return undefined
  try {
    const sealed = bytes(content['key'])
    const key = passphraseKey(passphrase, bytes(kdf?.['salt']), { N, r, p })
    const cipher = createDecipheriv('aes-256-gcm', key, bytes(content['nonce']), { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(id))
    cipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([cipher.update(sealed.subarray(0, -TAG_BYTES)), cipher.final()])
  } catch {
    return undefined
  }
}

/** Files of an exchange folder: encrypted, and bound to their place so that none can stand in for another. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { type ExchangeKey, NONCE_BYTES, TAG_BYTES } from './keys.ts'

/** Four letters and the version. */
const MAGIC = Buffer.from('FMBX\x01', 'latin1')
const KEY_ID_BYTES = 8
const HEADER_BYTES = MAGIC.length + KEY_ID_BYTES + NONCE_BYTES

/** @param place path in the folder, with `/` */
export function sealFile(folder: string, place: string, content: Uint8Array, key: ExchangeKey): void {
  const nonce = randomBytes(NONCE_BYTES)
  const header = Buffer.concat([MAGIC, Buffer.from(key.id, 'hex'), nonce])
  const cipher = createCipheriv('aes-256-gcm', key.seal, nonce)
  cipher.setAAD(Buffer.from(place))
  const body = [header, cipher.update(content), cipher.final(), cipher.getAuthTag()]
  writeFileAtomically(join(folder, ...place.split('/')), body, { folders: 0o700 })
}

export type OpenedFile =
  | { readonly kind: 'content'; readonly content: Buffer; readonly key: ExchangeKey }
  /** Not there yet. */
  | { readonly kind: 'absent' }
  /** Damaged, incomplete, or sealed with a key that the passphrase does not open. */
  | { readonly kind: 'unreadable' }

export function openSealedFile(folder: string, place: string, keys: ReadonlyMap<string, ExchangeKey>): OpenedFile {
  const path = join(folder, ...place.split('/'))
  if (!isFile(path)) return { kind: 'absent' }
  const bytes = readRegularFile(path)
  const key = keys.get(bytes.subarray(MAGIC.length, MAGIC.length + KEY_ID_BYTES).toString('hex'))
  const isComplete = bytes.length >= HEADER_BYTES + TAG_BYTES && bytes.subarray(0, MAGIC.length).equals(MAGIC)
  if (!isComplete || !key) return { kind: 'unreadable' }
  const nonce = bytes.subarray(HEADER_BYTES - NONCE_BYTES, HEADER_BYTES)
  try {
    const cipher = createDecipheriv('aes-256-gcm', key.seal, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(place))
    cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    const content = Buffer.concat([cipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES)), cipher.final()])
    return { kind: 'content', content, key }
  } catch {
    return { kind: 'unreadable' }
  }
}

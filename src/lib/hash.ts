/** Digests with the fastest function this Node.js offers. */
import * as crypto from 'node:crypto'
import * as zlib from 'node:zlib'

type OneShotHash = (algorithm: string, data: string | Uint8Array, encoding: 'hex') => string
type Crc = (data: Uint8Array, before?: number) => number

// Newer than Node 20.0: crypto.hash is from 20.12, zlib.crc32 from 20.15.
const nativeHash = (crypto as { hash?: OneShotHash }).hash
const nativeCrc = (zlib as { crc32?: Crc }).crc32

export const sha256 = (data: string | Uint8Array): string =>
  nativeHash ? nativeHash('sha256', data, 'hex') : crypto.createHash('sha256').update(data).digest('hex')

/**
 * CRC-32. Detects changed bytes; offers no protection against attackers.
 * @param before checksum of the bytes before these
 */
export const checksum: Crc = (data, before = 0) => (nativeCrc ? nativeCrc(data, before) : portableCrc(data, before))

let crcTable: Uint32Array | undefined

export function portableCrc(data: Uint8Array, before = 0): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, n) => {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1
    return c
  })
  let crc = (before ^ 0xffffffff) >>> 0
  for (const byte of data) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 255] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}

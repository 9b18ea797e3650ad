/** Text that is stored for each session and seldom read, in fewer bytes. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export const packText = (text: string): Buffer => deflateRawSync(text, { level: 4 })

export const unpackText = (packed: Uint8Array): string => inflateRawSync(packed).toString('utf8')

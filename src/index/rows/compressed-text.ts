/** Text that is stored for each session and seldom read, in fewer bytes. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export const compressText = (text: string): Buffer => deflateRawSync(text, { level: 4 })

export const decompressText = (compressed: Uint8Array): string => inflateRawSync(compressed).toString('utf8')

/** Reads a file that was kept beside a conversation. */
import { openFile } from '../../lib/files/file-bytes.ts'
import { decodeLine, splitLines } from '../../lib/lines/split-lines.ts'
import type { ConversionSource } from '../convert.ts'
import { mergeSidecarParts, parseSidecarPart } from './sidecar-format.ts'

/** Puts what the file holds back where it belongs. */
export const createSidecarRestorer = (path: string): NonNullable<ConversionSource['beside']> =>
  async function* (messages) {
    const parts = readSidecarParts(path)
    try {
      yield* mergeSidecarParts(messages, parts)
    } finally {
      await parts.return(undefined)
    }
  }

async function* readSidecarParts(path: string) {
  const file = openFile(path)
  try {
    for await (const lines of splitLines(file.chunks(0)))
      for (const line of lines) {
        const part = line.bytes && parseSidecarPart(decodeLine(line, line.bytes).text)
        if (part) yield part
      }
  } finally {
    file.close()
  }
}

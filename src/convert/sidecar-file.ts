/** Reads a file that was kept beside a conversation. */
import { openFile } from '../lib/bytes.ts'
import { decode, splitLines } from '../lib/jsonl.ts'
import type { From } from './convert.ts'
import { partIn, withParts } from './sidecar.ts'

/** Puts what the file holds back where it belongs. */
export const besideIn = (path: string): NonNullable<From['beside']> =>
  async function* (messages) {
    const parts = partsAt(path)
    try {
      yield* withParts(messages, parts)
    } finally {
      await parts.return(undefined)
    }
  }

async function* partsAt(path: string) {
  const file = openFile(path)
  try {
    for await (const lines of splitLines(file.chunks(0)))
      for (const line of lines) {
        const part = line.bytes && partIn(decode(line, line.bytes).text)
        if (part) yield part
      }
  } finally {
    file.close()
  }
}

/** Reads a file that was kept beside a conversation. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { From } from './convert.ts'
import { partIn, withParts } from './sidecar.ts'

/** Puts what the file holds back where it belongs. */
export const besideIn =
  (path: string): NonNullable<From['beside']> =>
  (messages) =>
    withParts(messages, partsAt(path))

async function* partsAt(path: string) {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const part = partIn(line)
    if (part) yield part
  }
}

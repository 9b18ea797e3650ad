/** Standard input as a file, because logs are read by offset. */
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface Spool {
  readonly path: string
  remove(): Promise<void>
}

export async function spooled(input: NodeJS.ReadableStream): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'fumi-'))
  const path = join(folder, 'stdin.jsonl')
  await pipeline(input, createWriteStream(path, { mode: 0o600 }))
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

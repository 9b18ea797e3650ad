/** Standard input as a file, because logs are read by offset. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeTempFolder, type TempFolder } from '../lib/disk/temp-folder.ts'

/** @returns the file in its folder, which is to be removed */
export async function spooled(input: NodeJS.ReadableStream): Promise<TempFolder> {
  const folder = makeTempFolder('input')
  const path = join(folder.path, 'stdin.jsonl')
  await pipeline(input, createWriteStream(path, { mode: 0o600 }))
  return { path, remove: folder.remove }
}

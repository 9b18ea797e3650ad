/** Standard input as a file, because logs are read by offset. */
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isPassedStream } from '../../lib/files/regular-file.ts'
import { createTempFolder, type TempFolder } from '../../lib/files/temp-files.ts'

/**
 * What a command is given that can be read only once, as a file: standard input for `-`, and the pipe of a shell's `<(…)`.
 * Nothing for any other path: it is read where it lies.
 */
export async function spoolInput(path: string): Promise<TempFolder | undefined> {
  if (path === '-') return spoolStream(process.stdin)
  return isPassedStream(path) ? spoolStream(createReadStream(path)) : undefined
}

/** @returns the file in its folder, which is to be removed */
async function spoolStream(input: NodeJS.ReadableStream): Promise<TempFolder> {
  const folder = createTempFolder('input')
  const path = join(folder.path, 'stdin.jsonl')
  await pipeline(input, createWriteStream(path, { mode: 0o600 }))
  return { path, remove: folder.remove }
}

/** Finds files of our own messages. They have no home: people put them anywhere. */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf, isFolder, SKIPPED_FOLDERS } from '../../lib/files/look.ts'
import type { Source } from '../agent.ts'
import { recognise } from './recognise.ts'

export const AGENT_ID = 'normalized'

const LIKELY = /\.(?:ndjson|jsonl)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (isFolder(root)) yield* walk(root, root)
  else yield { agent: AGENT_ID, path: root }
}

/** Links to folders are not followed: they would make the walk endless or count a file twice. */
async function* walk(folder: string, root: string): AsyncGenerator<Source> {
  const entries = [...entriesOf(folder)].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory() && LIKELY.test(entry.name) && isOurs(path)) yield { agent: AGENT_ID, path, root }
  }
  for (const entry of entries)
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) yield* walk(join(folder, entry.name), root)
}

/** The keys of a message come in a known order, the first of them at once. */
const GLANCE = 2_048
const buffer = Buffer.allocUnsafeSlow(GLANCE)

function isOurs(path: string): boolean {
  try {
    const fd = openSync(path, 'r')
    try {
      return recognise(buffer.subarray(0, readSync(fd, buffer, 0, GLANCE, 0)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

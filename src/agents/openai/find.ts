/** Finds files of conversations below a folder. They have no home of their own: people put them anywhere. */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf, isFolder, SKIPPED_FOLDERS } from '../../lib/files/look.ts'
import type { Source } from '../agent.ts'
import { recognise } from './recognise.ts'

export const AGENT_ID = 'openai'

const LIKELY = /\.(?:json|jsonl|ndjson)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (isFolder(root)) yield* walk(root, root)
  else yield { agent: AGENT_ID, path: root }
}

/** Links to folders are not followed: they would make the walk endless or count a file twice. */
async function* walk(folder: string, root: string): AsyncGenerator<Source> {
  const files: string[] = []
  const folders: string[] = []
  for (const entry of entriesOf(folder)) {
    if (entry.isDirectory()) folders.push(entry.name)
    else if (LIKELY.test(entry.name)) files.push(entry.name)
  }
  for (const name of files.sort()) {
    const path = join(folder, name)
    if (isOurs(path)) yield { agent: AGENT_ID, path, root }
  }
  for (const name of folders.sort()) if (!SKIPPED_FOLDERS.has(name)) yield* walk(join(folder, name), root)
}

const HEAD = 65_536
/** Enough to see that most files are somebody else's. */
const GLANCE = 2_048
const buffer = Buffer.allocUnsafeSlow(HEAD)

function isOurs(path: string): boolean {
  try {
    const fd = openSync(path, 'r')
    try {
      const glance = readSync(fd, buffer, 0, GLANCE, 0)
      if (glance === GLANCE && OTHERS.test(buffer.toString('latin1', 0, 128))) return false
      return recognise(buffer.subarray(0, glance + readSync(fd, buffer, glance, HEAD - glance, glance)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

/** The first record of another agent's log: nothing else needs to be seen. */
const OTHERS = /^\{"(?:timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"\w+",|conversation_id":"[^"]*","next_message":)/

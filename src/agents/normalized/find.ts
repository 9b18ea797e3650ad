/** Finds files of our own messages. They have no home: people put them anywhere. */
import { closeSync, readSync } from 'node:fs'
import { filesBelow, isFolder } from '../../lib/files/look.ts'
import { openRegular } from '../../lib/files/regular-file.ts'
import type { Source } from '../agent.ts'
import { recognise } from './recognise.ts'

export const AGENT_ID = 'normalized'

const LIKELY = /\.(?:ndjson|jsonl)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else for (const path of filesBelow(root, LIKELY)) if (isOurs(path)) yield { agent: AGENT_ID, path, root }
}

/** The keys of a message come in a known order, the first of them at once. */
const GLANCE = 2_048
const buffer = Buffer.allocUnsafeSlow(GLANCE)

function isOurs(path: string): boolean {
  try {
    const fd = openRegular(path)
    try {
      return recognise(buffer.subarray(0, readSync(fd, buffer, 0, GLANCE, 0)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

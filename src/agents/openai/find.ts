/** Finds files of conversations below a folder. They have no home of their own: people put them anywhere. */
import { closeSync, readSync } from 'node:fs'
import { filesBelow, isFolder } from '../../lib/files/look.ts'
import { openRegular } from '../../lib/files/regular-file.ts'
import type { Source } from '../agent.ts'
import { recognise } from './recognise.ts'

export const AGENT_ID = 'openai'

const LIKELY = /\.(?:json|jsonl|ndjson)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else for (const path of filesBelow(root, LIKELY)) if (isOurs(path)) yield { agent: AGENT_ID, path, root }
}

const HEAD = 65_536
/** Enough to see that most files are somebody else's. */
const GLANCE = 2_048
const buffer = Buffer.allocUnsafeSlow(HEAD)

function isOurs(path: string): boolean {
  try {
    const fd = openRegular(path)
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

/** Finds files of conversations below a folder. They have no home of their own: people put them anywhere. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder } from '../../lib/files/safe-fs.ts'
import type { Source } from '../agent.ts'
import { recognize } from './recognize.ts'

export const AGENT_ID = 'openai'

const CANDIDATE_NAMES = /\.(?:json|jsonl|ndjson)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else
    for (const path of findFilesBelow(root, CANDIDATE_NAMES))
      if (isConversationFile(path)) yield { agent: AGENT_ID, path, root }
}

const HEAD_BYTES = 65_536
/** Enough to see that most files are somebody else's. */
const FIRST_READ_BYTES = 2_048
const buffer = Buffer.allocUnsafeSlow(HEAD_BYTES)

function isConversationFile(path: string): boolean {
  try {
    const fd = openRegularFile(path)
    try {
      const firstRead = readSync(fd, buffer, 0, FIRST_READ_BYTES, 0)
      if (firstRead === FIRST_READ_BYTES && OTHER_AGENT_LOG.test(buffer.toString('latin1', 0, 128))) return false
      return recognize(
        buffer.subarray(0, firstRead + readSync(fd, buffer, firstRead, HEAD_BYTES - firstRead, firstRead)),
      )
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

/** The first record of another agent's log: nothing else needs to be seen. */
const OTHER_AGENT_LOG =
  /^\{"(?:timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"\w+",|conversation_id":"[^"]*","next_message":)/

/** Finds files of our own messages. They have no home: people put them anywhere. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder } from '../../lib/files/safe-fs.ts'
import type { Source } from '../agent.ts'
import { recognize } from './recognize.ts'

export const AGENT_ID = 'normalized'

const CANDIDATE_NAMES = /\.(?:ndjson|jsonl)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else
    for (const path of findFilesBelow(root, CANDIDATE_NAMES))
      if (isNormalizedFile(path)) yield { agent: AGENT_ID, path, root }
}

/** The keys of a message come in a known order, the first of them at once. */
const HEAD_BYTES = 2_048
const buffer = Buffer.allocUnsafeSlow(HEAD_BYTES)

function isNormalizedFile(path: string): boolean {
  try {
    const fd = openRegularFile(path)
    try {
      return recognize(buffer.subarray(0, readSync(fd, buffer, 0, HEAD_BYTES, 0)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

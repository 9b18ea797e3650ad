/** Finds files of conversations below a folder and recognizes them by content. They have no home of their own. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder } from '../../lib/files/safe-fs.ts'
import { describeFileHead } from '../../openai/files/describe-file.ts'
import type { FileDescription, Source } from '../agent.ts'

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

/** Another agent's log is not ours, whatever it holds. */
export const recognize = (head: Uint8Array): boolean => describeFileHead(headText(head))?.isConversation === true

/** Also for what is refused: the reason tells what it is instead. */
export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = describeFileHead(headText(head))
  return kind && { format: kind.format, why: kind.why }
}

/** A letter that the end of the head cuts is left out with what is unfinished. */
const headText = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8')

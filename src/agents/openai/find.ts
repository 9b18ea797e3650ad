/** Finds files of conversations and recognizes them by content. They have no default folder. */

import { describeFileHead } from '../../openai/files/file-layout.ts'
import type { FileDescription, Source } from '../agent.ts'
import { fileBeginsWith, findLogs } from '../kit/source-file.ts'

export const AGENT_ID = 'openai'

const CANDIDATE_NAMES = /\.(?:json|jsonl|ndjson)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  yield* findLogs(AGENT_ID, root, CANDIDATE_NAMES, (path) => fileBeginsWith(path, buffer, isConversation))
}

const buffer = Buffer.allocUnsafeSlow(65_536)

const isConversation = (head: Buffer): boolean =>
  !OTHER_AGENT_LOG.test(head.toString('latin1', 0, 128)) && recognize(head)

/** The first record of another agent's log is sufficient to exclude the file. */
const OTHER_AGENT_LOG =
  /^\{"(?:timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"\w+",|conversation_id":"[^"]*","next_message":)/

/** Another agent's log is rejected whatever it contains. */
export const recognize = (head: Uint8Array): boolean => describeFileHead(headText(head))?.isConversation === true

/** Also describes rejected files and why they were rejected. */
export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = describeFileHead(headText(head))
  return kind && { format: kind.format, why: kind.why }
}

/** Drops a character that is cut at the end. */
const headText = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8')

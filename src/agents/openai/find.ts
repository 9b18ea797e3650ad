/** Finds files of conversations below a folder and recognizes them by content. They have no home of their own. */

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

/** The first record of another agent's log: nothing else needs to be seen. */
const OTHER_AGENT_LOG =
  /^\{"(?:timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"\w+",|conversation_id":"[^"]*","next_message":)/

/** Another agent's log is not ours, whatever it holds. */
export const recognize = (head: Uint8Array): boolean => describeFileHead(headText(head))?.isConversation === true

/** Also for rejected files: the reason says what they are. */
export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = describeFileHead(headText(head))
  return kind && { format: kind.format, why: kind.why }
}

/** A character that is cut at the end of the head is left out. */
const headText = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8')

/** Finds files of conversations and recognizes them by content. They have no default folder. */

import { beginsWithConversation, describeFileHead } from '../../openai/files/file-layout.ts'
import type { FileDescription, Source } from '../agent.ts'
import { fileBeginsWith, findLogs, headText } from '../kit/source-file.ts'

export const AGENT_ID = 'openai'

/** Not what tasks of other agents are called, which hold such messages. */
const CANDIDATE_NAMES = /^(?!(?:api_conversation_history|ui_messages|.+\.messages)\.json$).*\.(?:json|jsonl|ndjson)$/i

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
export const recognize = (head: Uint8Array): boolean => beginsWithConversation(headText(head))

/** Also describes rejected files and why they were rejected. */
export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = describeFileHead(Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8'))
  return kind && { format: kind.format, why: kind.why }
}

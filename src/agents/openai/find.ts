/** Finds files of conversations and recognizes them by content. They have no default folder. */

import type { FolderSearch } from '../../model/folder-search.ts'
import { beginsWithConversation, describeFileHead } from '../../openai/files/file-layout.ts'
import type { FileDescription, Source } from '../agent.ts'
import { findLogs, headText } from '../kit/source-file.ts'

export const AGENT_ID = 'openai'

/** Not what tasks of other agents are called, which hold such messages. */
const CANDIDATE_NAMES = /^(?!(?:api_conversation_history|ui_messages|.+\.messages)\.json$).*\.(?:json|jsonl|ndjson)$/i

export const find = (root: string, search?: FolderSearch): AsyncGenerator<Source> =>
  findLogs(AGENT_ID, root, { names: CANDIDATE_NAMES, accepts: (_, head) => isConversation(head()) }, search)

const isConversation = (head: Uint8Array): boolean => !OTHER_AGENT_LOG.test(headText(head)) && recognize(head)

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

/** File names of journals: one file per conversation, below the data directory. */

import { sha256 } from '../../lib/hash.ts'

/** Folder below the data directory. */
export const CONVERSATIONS_FOLDER = 'conversations'

const MAX_NAME_LENGTH = 120

/** Uses the id as the name if it is a valid file name on every system, otherwise an encoded form. */
export function journalName(conversationId: string): string {
  const safe = conversationId.replaceAll(/[^A-Za-z0-9._-]/gu, percentEncode).replace(/^\./, '%2E')
  const allowed = safe === '' || RESERVED_NAMES.test(safe) ? `%${safe}` : safe
  if (allowed.length <= MAX_NAME_LENGTH) return `${allowed}.jsonl`
  return `${allowed.slice(0, MAX_NAME_LENGTH)}-${sha256(conversationId).slice(0, 16)}.jsonl`
}

/** Device names of Windows, with any extension. */
const RESERVED_NAMES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

function percentEncode(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

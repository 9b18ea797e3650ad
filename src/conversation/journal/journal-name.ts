/** Where journals lie: one file for each conversation, below the data directory. */

import { sha256 } from '../../lib/hash.ts'

/** The folder below the data directory. */
export const CONVERSATIONS_FOLDER = 'conversations'

const MAX_NAME_LENGTH = 120

/** An id that can be the name of a file everywhere is its own name; others are spelt so that they can. */
export function journalName(conversationId: string): string {
  const safe = conversationId.replaceAll(/[^A-Za-z0-9._-]/gu, percentEncode).replace(/^\./, '%2E')
  const allowed = safe === '' || RESERVED_NAMES.test(safe) ? `%${safe}` : safe
  if (allowed.length <= MAX_NAME_LENGTH) return `${allowed}.jsonl`
  return `${allowed.slice(0, MAX_NAME_LENGTH)}-${sha256(conversationId).slice(0, 16)}.jsonl`
}

/** Names that Windows gives to devices, whatever follows the first dot. */
const RESERVED_NAMES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

function percentEncode(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

/** Where journals lie: one file for each conversation, below the data directory. */

import { sha256 } from '../../lib/hash.ts'

/** The folder below the data directory. */
export const CONVERSATIONS = 'conversations'

const LONGEST = 120

/** An id that can be the name of a file everywhere is its own name; others are spelt so that they can. */
export function journalName(conversationId: string): string {
  const safe = conversationId.replaceAll(/[^A-Za-z0-9._-]/gu, spelt).replace(/^\./, '%2E')
  const allowed = safe === '' || RESERVED.test(safe) ? `%${safe}` : safe
  if (allowed.length <= LONGEST) return `${allowed}.jsonl`
  return `${allowed.slice(0, LONGEST)}-${sha256(conversationId).slice(0, 16)}.jsonl`
}

/** Names that Windows gives to devices, whatever follows the first dot. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

function spelt(letter: string): string {
  const code = letter.codePointAt(0) ?? 0
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

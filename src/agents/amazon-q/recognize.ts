/** Knows a store, a saved conversation and a prompt history by their first bytes. */
import { basename } from 'node:path'
import { isSqliteFile } from '../../lib/sqlite/header.ts'
import { isHistoryFile } from './prompt-history.ts'
import { DATABASE_NAME } from './store/store-paths.ts'

/** `head` is the beginning of the file, cut anywhere. */
export function recognize(head: Uint8Array, path: string): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length)
  // A damaged store is ours by its name: whoever reads it is told what is wrong.
  if (isSqliteFile(head)) return bytes.includes('conversations') || basename(path) === DATABASE_NAME
  return isHistoryFile(head, path) || isSavedConversation(bytes.toString('utf8'))
}

/** A state, or a bare history. */
function isSavedConversation(head: string): boolean {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (/^\{\s*"conversation_id"\s*:/.test(text)) return /"(?:history|next_message)"\s*:/.test(text)
  if (/^\[\s*(?:\[\s*)?\{\s*"(?:additional_context|env_context|content|user)"/.test(text))
    return ENTRY_PATTERN.test(text)
  return text.startsWith('{') && /"history"\s*:\s*\[/.test(text) && ENTRY_PATTERN.test(text)
}

/** What a message of a user holds and nobody else's does. */
const ENTRY_PATTERN = /"env_context"\s*:|"content"\s*:\s*\{\s*"(?:Prompt|ToolUseResults|CancelledToolUses)"/

/** Fields that only Kiro writes. They may stand anywhere. */
const KIRO_FIELDS = ['"mcp_server_versions":', '"mcp_last_checked":', '"rate_multiplier":', '"kiro_default"']

export const isKiroState = (bytes: Buffer): boolean => KIRO_FIELDS.some((name) => bytes.includes(name))

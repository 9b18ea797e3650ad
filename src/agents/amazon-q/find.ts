/** Finds and recognizes conversations: rows of a store, saved files, the prompt history. */
import { basename } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder, readHead, statOf } from '../../lib/files/safe-fs.ts'
import { isSqliteFile } from '../../lib/sqlite/database-file.ts'
import type { Source } from '../agent.ts'
import { isHistoryFile } from './prompt-history.ts'
import { agentOfStore, DATABASE_NAME, isDatabasePath, listStore, withStore } from './stores.ts'
import { formatRowKey, listTables, MAX_ROW_BYTES } from './tables.ts'

const CANDIDATE_NAMES = /\.(?:sqlite3?|db|json)$|^\.cli_bash_history$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield* sourcesIn(root)
  else
    for (const path of findFilesBelow(root, CANDIDATE_NAMES))
      if (isAmazonQFile(path)) for (const source of sourcesIn(path)) yield { ...source, root }
}

function isAmazonQFile(path: string): boolean {
  if (!isDatabasePath(path)) return recognize(readHead(path), path)
  const tables = withStore(path, listTables)
  if (tables.ok) return tables.value.length > 0
  // A store that cannot be opened is recognized by its name. Other databases may belong to other programs.
  return basename(path) === DATABASE_NAME && tables.problem.kind !== 'empty'
}

function sourcesIn(path: string): readonly Source[] {
  if (isDatabasePath(path)) return rowSources(path)
  const head = readHead(path)
  if (isSqliteFile(head)) return rowSources(path)
  if (isHistoryFile(head, path)) return [{ agent: agentOfStore(path, () => false), path }]
  return [
    {
      agent: agentOfStore(path, () => (statOf(path)?.size ?? 0) <= MAX_ROW_BYTES && isKiroState(readRegularFile(path))),
      path,
    },
  ]
}

/** A store that cannot be listed is yielded as a source, and reading it reports why. */
function rowSources(path: string): readonly Source[] {
  const listed = listStore(path)
  if (!listed.ok) return [{ agent: agentOfStore(path, () => false), path }]
  const { rows, tables } = listed.value
  const agent = agentOfStore(path, () => tables.includes('conversations_v2'))
  return rows.map(({ key, fingerprint, size }) => ({ agent, path, key: formatRowKey(key), fingerprint, size }))
}

/** @param head beginning of the file, cut at any byte */
export function recognize(head: Uint8Array, path: string): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length)
  // A damaged store is recognized by its name. Reading it reports the damage.
  if (isSqliteFile(head)) return bytes.includes('conversations') || basename(path) === DATABASE_NAME
  return isHistoryFile(head, path) || isSavedConversation(bytes.toString('utf8'))
}

/** A state, or a plain history. */
function isSavedConversation(head: string): boolean {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (/^\{\s*"conversation_id"\s*:/.test(text)) return /"(?:history|next_message)"\s*:/.test(text)
  if (/^\[\s*(?:\[\s*)?\{\s*"(?:additional_context|env_context|content|user)"/.test(text))
    return ENTRY_PATTERN.test(text)
  return text.startsWith('{') && /"history"\s*:\s*\[/.test(text) && ENTRY_PATTERN.test(text)
}

/** Present in user messages, and only there. */
const ENTRY_PATTERN = /"env_context"\s*:|"content"\s*:\s*\{\s*"(?:Prompt|ToolUseResults|CancelledToolUses)"/

/** Fields that only Kiro writes, at any position. */
const KIRO_FIELDS = ['"mcp_server_versions":', '"mcp_last_checked":', '"rate_multiplier":', '"kiro_default"']

const isKiroState = (bytes: Buffer): boolean => KIRO_FIELDS.some((name) => bytes.includes(name))

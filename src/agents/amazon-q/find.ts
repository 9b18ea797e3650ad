/** Finds and recognizes conversations: rows of a store, saved files, the prompt history. */
import { basename } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFolder, readHead, statOf } from '../../lib/files/safe-fs.ts'
import { isSqliteFile } from '../../lib/sqlite/database-file.ts'
import type { FolderSearch } from '../../model/folder-search.ts'
import type { Source } from '../agent.ts'
import { filesMatching } from '../kit/folder-search.ts'
import { withStore } from '../kit/open-store.ts'
import { isHistoryFile } from './prompt-history.ts'
import {
  idInPath,
  isSessionFile,
  isSidecar,
  journalIdsIn,
  recognizeSession,
  SESSIONS,
  sessionAt,
} from './session-files/store.ts'
import { agentOfStore, DATABASE_NAME, isDatabasePath, KIRO, listStore, sessionsOf } from './stores.ts'
import { formatRowKey, listTables, MAX_ROW_BYTES, parseRowKey } from './tables.ts'

const CANDIDATE_NAMES = /\.(?:sqlite3?|db|json)$|^\.cli_bash_history$/i

/** Kiro's sessions are files in later versions; what an earlier store says of the same session is left out. */
export async function* find(root: string, search?: FolderSearch): AsyncGenerator<Source> {
  if (!isFolder(root)) {
    if (isSessionPath(root)) yield sessionAt(root)
    else yield* withoutJournals(sourcesIn(root), journalsBeside(root))
    return
  }
  const journals = new Set(journalsBeside(root))
  const sessions = filesMatching(root, SESSIONS, search)
  const others = filesMatching(root, { names: CANDIDATE_NAMES, accepts: isAmazonQFile }, search)
  for await (const path of sessions) {
    journals.add(idInPath(path))
    yield { agent: KIRO, path, root }
  }
  for await (const path of others)
    for (const source of withoutJournals(sourcesIn(path), journals)) yield { ...source, root }
}

/** Ids of the sessions that the program of this store keeps as files. */
function journalsBeside(path: string): ReadonlySet<string> {
  const sessions = sessionsOf(path)
  return sessions === undefined ? new Set() : journalIdsIn(sessions)
}

const isSessionPath = (path: string): boolean => isSessionFile(path) || isSidecar(readHead(path), path)

const withoutJournals = (sources: readonly Source[], journals: ReadonlySet<string>): readonly Source[] =>
  sources.filter(({ agent, key }) => {
    const row = agent === KIRO && key !== undefined ? parseRowKey(key) : undefined
    return row?.table !== 'conversations_v2' || !journals.has(row.conversation)
  })

function isAmazonQFile(path: string, head: () => Uint8Array): boolean {
  if (!isDatabasePath(path)) return isConversationFile(head(), path)
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
  if (isSessionFile(path)) return recognizeSession(head, path)
  return isSidecar(head, path) || isConversationFile(head, path)
}

const isConversationFile = (head: Uint8Array, path: string): boolean =>
  isSqliteFile(head) ? recognize(head, path) : isHistoryFile(head, path) || isSavedConversation(textOf(head))

const textOf = (head: Uint8Array): string => Buffer.from(head.buffer, head.byteOffset, head.length).toString('utf8')

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

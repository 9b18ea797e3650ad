/** What names one row: its table and its primary key. */

export type RowKey =
  | { readonly table: 'conversations'; readonly directory: string }
  | { readonly table: 'conversations_v2'; readonly directory: string; readonly conversation: string }

export type ConversationTable = RowKey['table']

/** Bytes. The longest that is known has 54 MB. */
export const MAX_ROW_BYTES = 500_000_000

/** Nothing of a value that is too long to be held. */
const VALUE_COLUMN = `CAST(CASE WHEN octet_length(value) <= ${MAX_ROW_BYTES} THEN value END AS BLOB)`

/** The question for its value and its times, with what it asks for. */
export const rowQuery = (key: RowKey): readonly [sql: string, ...parameters: string[]] =>
  key.table === 'conversations'
    ? [`SELECT ${VALUE_COLUMN} AS value FROM conversations WHERE key = ?`, key.directory]
    : [
        `SELECT ${VALUE_COLUMN} AS value, created_at, updated_at FROM conversations_v2 WHERE key = ? AND conversation_id = ?`,
        key.directory,
        key.conversation,
      ]

/** A source's key is plain text. */
export const formatRowKey = (key: RowKey): string =>
  JSON.stringify(
    key.table === 'conversations' ? [key.table, key.directory] : [key.table, key.directory, key.conversation],
  )

export function parseRowKey(text: string): RowKey | undefined {
  try {
    const [table, directory, conversation] = JSON.parse(text) as readonly string[]
    if (directory === undefined) return undefined
    if (table === 'conversations') return { table, directory }
    return table === 'conversations_v2' && conversation !== undefined ? { table, directory, conversation } : undefined
  } catch {
    return undefined
  }
}

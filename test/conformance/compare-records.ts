/** Records that must be unchanged after a round trip, by the original agent. */
import type { Agent, Source } from '../../src/agents/agent.ts'
import { plainPortableJson } from '../../src/lib/json/portable.ts'
import { type Fields, fieldsOf, isObject, listOf } from '../../src/lib/unknown-values.ts'
import { extensionOf } from '../../src/model/replay/extension.ts'

type SelectRecords = (records: readonly unknown[]) => readonly unknown[]

/** Response items without ids. Undefined if Codex itself would not read a line, because such lines are repaired. */
const itemsOf: SelectRecords = (records) =>
  records.filter(isObject).flatMap((record) => {
    const item =
      'payload' in record ? (record['type'] === 'response_item' ? record['payload'] : undefined) : bareItem(record)
    if (!isObject(item)) return []
    const { id: _, ...rest } = item
    return [rest]
  })

const bareItem = (record: Fields): unknown => (typeof record['type'] === 'string' ? record : undefined)

const messagesOf: SelectRecords = (records) =>
  records.flatMap((record) => {
    const { role, content, tool_calls, tool_call_id } = fieldsOf(record) ?? {}
    return typeof role === 'string' ? [{ role, content, tool_calls, tool_call_id }] : []
  })

/** The order of fields in a state does not matter. */
const entriesAndState: SelectRecords = (records) =>
  records.map((record) => {
    const { state, ...rest } = fieldsOf(record) ?? {}
    return isObject(state) ? { ...rest, state: Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1)) } : record
  })

const SELECT_BY_AGENT: { readonly [agent: string]: SelectRecords } = {
  'amazon-q': entriesAndState,
  codex: itemsOf,
  openai: messagesOf,
}

/** Default: all records. */
export const selectRecordsFor = (agent: Agent): SelectRecords => SELECT_BY_AGENT[agent.id] ?? ((records) => records)

const PARENTS = [
  ['uuid', 'parentUuid'],
  ['id', 'parentId'],
] as const

/**
 * For a session that came back under another id. After a handoff, the first record of the program follows a line that we
 * made; that line's id depends on the session's, so it is another one, and the record refers to the new one.
 */
export function withoutMadeParents(records: readonly unknown[]): readonly unknown[] {
  const fields = records.map((record) => fieldsOf(record) ?? {})
  return PARENTS.reduce<readonly unknown[]>((all, [id, parent]) => {
    const own = new Set(fields.map((record) => record[id]))
    return all.map((record) => {
      const previous = fieldsOf(record)?.[parent]
      return typeof previous === 'string' && !own.has(previous) ? { ...fieldsOf(record), [parent]: 'made' } : record
    })
  }, records)
}

const PARTS: ReadonlySet<unknown> = new Set(['input_text', 'input_image', 'input_audio', 'output_text'])
const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'developer', 'system'])
const UNREAD_TYPES: ReadonlySet<unknown> = new Set([undefined, 'tool_call', 'tool_result', 'function_result'])

/** Logs made by other programs contain records that Codex never wrote. */
export function isNative(agent: Agent, records: readonly unknown[]): boolean {
  if (agent.id === 'amazon-q') return records.every(isLoaded)
  if (agent.id !== 'codex') return true
  if (records.some((record) => isObject(record) && isForeign(record))) return false
  return itemsOf(records).every((item) => {
    const { type, role, content } = fieldsOf(item) ?? {}
    if (type !== 'message') return !UNREAD_TYPES.has(type)
    return (
      ROLES.has(role) && Array.isArray(content) && listOf(content).every((part) => PARTS.has(fieldsOf(part)?.['type']))
    )
  })
}

/** The program does not load a state without these fields, so they are added. */
function isLoaded(record: unknown): boolean {
  const state = fieldsOf(fieldsOf(record)?.['state'])
  return !state || ['conversation_id', 'valid_history_range', 'transcript', 'tools'].every((key) => key in state)
}

/** Output of `codex exec --json`, `history.jsonl`, rows of the specification, items of the first Codex. */
const isForeign = (record: Fields): boolean =>
  (!('payload' in record) && ('role' in record ? record['type'] !== 'message' : /\./.test(String(record['type'])))) ||
  ('session_id' in record && 'ts' in record) ||
  ('record_type' in record && ('role' in record || 'text' in record || 'name' in record || 'output' in record))

export async function recordsIn(
  agent: Agent,
  source: Source,
  session: string | undefined,
): Promise<readonly unknown[]> {
  const records: unknown[] = []
  for await (const batch of agent.read(source, { includeSource: true, includePrivate: true }))
    for (const one of batch) {
      if (one.kind !== 'message' || (session !== undefined && one.message.raw.session_id !== session)) continue
      const extension = extensionOf(one.message)
      if (extension?.src === agent.id) records.push(...(extension.records ?? []).map(plainPortableJson))
    }
  return records
}

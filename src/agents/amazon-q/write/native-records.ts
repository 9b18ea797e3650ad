/** The program's own records, which go back as they were: entries of a history, and the state around it. */
import { historyEntry } from '../../../conversation/codec/message.ts'
import { type NotRead, type Read, readStateValue, readValueAs } from '../../../conversation/codec/read-state.ts'
import type { HistoryEntry } from '../../../conversation/record.ts'
import type { JsonValue } from '../../../lib/json/lossless.ts'
import { fromPortableJson } from '../../../lib/json/portable.ts'
import { writeJson } from '../../../lib/json/write.ts'
import { fieldsOf, listOf } from '../../../lib/unknown-values.ts'

export type StateFields = ReadonlyMap<string, JsonValue>

export type NativeRecord =
  | {
      readonly kind: 'entry'
      readonly entry: HistoryEntry
      readonly text: string
      /** Why the program of today would refuse it. */
      readonly faults: readonly string[]
    }
  | {
      readonly kind: 'state'
      readonly fields: StateFields
      readonly faults: readonly string[]
      /** How many entries of the history nobody could read. */
      readonly unread: number
    }
  /** An entry that not even a tolerant reading takes. */
  | { readonly kind: 'unread' }

export function parseNativeRecord(record: unknown): NativeRecord {
  const state = fieldsOf(fieldsOf(record)?.['state'])
  if (state) return stateRecord(state, listOf(fieldsOf(record)?.['unread']).length)
  const given = fromPortableJson(record)
  const strict = readValueAs(historyEntry, given, { mode: 'strict' })
  const read = strict.ok ? strict : readValueAs(historyEntry, given)
  if (!read.ok) return { kind: 'unread' }
  return { kind: 'entry', entry: read.value, text: writeJson(given), faults: faultsOf(read) }
}

function stateRecord(state: { readonly [field: string]: unknown }, unread: number): NativeRecord {
  const fields = new Map(Object.entries(state).map(([key, value]) => [key, fromPortableJson(value)]))
  const given = { ...Object.fromEntries(fields), history: [] }
  const strict = readStateValue(given, { mode: 'strict' })
  return { kind: 'state', fields, faults: strict.ok ? [] : faultsOf(readStateValue(given)), unread }
}

const faultsOf = (read: Read<unknown> | NotRead): readonly string[] =>
  read.ok ? read.repairs.map(({ reason }) => reason) : [read.reason]

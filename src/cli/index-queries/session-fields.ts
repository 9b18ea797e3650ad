/** The columns that `fumi list --fields` prints. Their names are those of `--json`; counts of tokens stand beside them. */
import { AppError } from '../../model/error.ts'
import { nearestName } from '../../model/nearest-name.ts'
import type { SessionRow } from './session-row.ts'

const FIELDS = {
  id: (row) => row.id,
  agent: (row) => row.agent,
  native_id: (row) => row.native_id,
  kind: (row) => row.kind,
  title: (row) => row.title,
  name: (row) => row.name,
  cwd: (row) => row.cwd,
  models: (row) => row.models,
  started_at: (row) => row.started_at,
  last_at: (row) => row.last_at,
  messages: (row) => row.messages,
  tools: (row) => row.tools,
  tokens: (row) => row.usage?.total_tokens ?? null,
  input_tokens: (row) => row.usage?.input_tokens ?? null,
  cached_input_tokens: (row) => row.usage?.cached_input_tokens ?? null,
  cache_write_tokens: (row) => row.usage?.cache_write_tokens ?? null,
  output_tokens: (row) => row.usage?.output_tokens ?? null,
  reasoning_output_tokens: (row) => row.usage?.reasoning_output_tokens ?? null,
  cost: (row) => row.cost ?? null,
  credits: (row) => row.credits ?? null,
  size: (row) => row.size,
  parent: (row) => row.parent,
  relation: (row) => row.relation,
  children: (row) => row.children,
  path: (row) => row.path,
  kept: (row) => row.kept,
  gone: (row) => row.gone,
  ended_at: (row) => row.ended_at,
  ended_how: (row) => row.ended_how,
  starred: (row) => row.starred,
  tags: (row) => row.tags,
  note: (row) => row.note,
} as const satisfies { readonly [name: string]: (row: SessionRow) => FieldValue }

export type SessionField = keyof typeof FIELDS
export type FieldValue = string | number | boolean | null | readonly string[]

export const valueOfField = (row: SessionRow, field: SessionField): FieldValue => FIELDS[field](row)

export const selectFields = (
  row: SessionRow,
  fields: readonly SessionField[],
): { readonly [field: string]: FieldValue } =>
  Object.fromEntries(fields.map((field) => [field, valueOfField(row, field)]))

/** @param given names, separated by commas */
export function parseFields(given: string): readonly SessionField[] {
  const names = given.split(',').map((name) => name.trim())
  return [...new Set(names)].filter((name) => name !== '').map(checkField)
}

function checkField(name: string): SessionField {
  if (Object.hasOwn(FIELDS, name)) return name as SessionField
  const known = Object.keys(FIELDS)
  const near = nearestName(name, known)
  throw new AppError(
    'bad_usage',
    `Unknown field "${name}". ${near === undefined ? '' : `Did you mean ${near}? `}Available: ${known.join(', ')}.`,
    `項目 ${name} はありません。${near === undefined ? '' : `${near} のことですか。`}使えるのは ${known.join('、')} です。`,
  )
}

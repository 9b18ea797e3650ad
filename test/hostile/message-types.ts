/** Checks that a message has the types of src/model/normalized.ts. */
import { type Fields, fieldsOf, isObject } from '../../src/lib/unknown-values.ts'
import { isToolStatus, type NormalizedMessage } from '../../src/model/normalized.ts'
import { NO_USAGE } from '../../src/model/usage.ts'

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const textOrNull: Check = (value) => value === null || text(value)
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const object: Check = (value) => typeof value === 'object' && value !== null
const among =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string)
const shape =
  (needed: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(needed).every(([key, check]) => check(value[key])) &&
    Object.entries(optional).every(([key, check]) => value[key] === undefined || check(value[key]))
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)

const stretch = { start: count, end: count }
const annotation: Check = (value) =>
  shape({ kind: among('injected'), ...stretch, what: text })(value) ||
  shape({ kind: among('link'), ...stretch, target: text })(value) ||
  shape({ kind: among('highlight'), ...stretch }, { note: text })(value)

const segment = shape(
  { channel: among('input', 'output', 'system'), type: among('text', 'image'), format: text },
  {
    text,
    media: shape({}, { data_uri: text, url: text, mime_type: text, size_bytes: count }),
    annotations: list(annotation),
  },
)

const call = shape(
  { call_id: textOrNull, name: textOrNull, status: isToolStatus },
  {
    namespace: text,
    source_status: text,
    arguments: text,
    arguments_json: object,
    input: text,
    input_json: object,
    output: text,
    output_json: object,
    exit_code: (value) => Number.isSafeInteger(value),
    duration_ms: count,
  },
)

const FIELDS: Record<string, Check> = {
  id: text,
  timestamp: text,
  role: among('user', 'assistant', 'tool', 'system', 'meta'),
  source_type: among('message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy'),
  segments: list(segment),
  tool_call: (value) => value === undefined || call(value),
  raw: shape(
    { event_type: textOrNull, payload_type: textOrNull, file_path: text, line_index: count, session_id: text },
    {
      row_key: text,
      format: among('legacy'),
      payload_role: text,
      private: (value) => value === true,
      encrypted_content_sha256: text,
      encrypted_content: text,
    },
  ),
  metadata: (value) => value === undefined || isObject(value),
}

export function typeFaults(message: NormalizedMessage): readonly string[] {
  const fields = message as unknown as Fields
  const usage = fieldsOf(message.metadata?.['usage'])
  const faults = Object.entries(FIELDS).flatMap(([key, check]) =>
    check(fields[key]) ? [] : [`${key} ${JSON.stringify(fields[key])}`],
  )
  return usage && !Object.keys(NO_USAGE).every((key) => count(usage[key]))
    ? [...faults, `usage ${JSON.stringify(usage)}`]
    : faults
}

/** Checks a NormalizedMessage that somebody else wrote, field by field. */
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import { NumberCheck } from '../../model/checked-numbers.ts'
import { toInstant } from '../../model/ids.ts'
import { type Metadata, wrongMetadataKeys } from '../../model/metadata.ts'
import {
  isToolStatus,
  type MessageSegment,
  type NormalizedMessage,
  type RawReference,
  type ToolCall,
} from '../../model/normalized.ts'
import { readCheckedUsage } from '../../model/usage.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool', 'system', 'meta'])
const TYPES: ReadonlySet<unknown> = new Set(['message', 'tool_call', 'tool_result', 'meta', 'session', 'legacy'])

/** Checks required fields only; the others are checked one by one. */
export function isNormalizedMessage(value: unknown): value is Fields {
  return (
    isObject(value) &&
    ROLES.has(value['role']) &&
    TYPES.has(value['source_type']) &&
    toInstant(value['timestamp']) !== undefined &&
    Array.isArray(value['segments']) &&
    value['segments'].every(isObject) &&
    isObject(value['raw']) &&
    (value['tool_call'] === undefined || isObject(value['tool_call'])) &&
    (value['metadata'] === undefined || isObject(value['metadata']))
  )
}

/** Collects the names of fields that were dropped. */
export class LineCheck {
  readonly numbers = new NumberCheck()
  readonly values = new Set<string>()
}

/** Whether every text, list and object of the message is one. */
export function hasCheckedTypes(message: Fields): boolean {
  const check = new LineCheck()
  withCheckedTypes(message as unknown as NormalizedMessage, check)
  return check.values.size === 0
}

/** Without values of invalid types. Usually returns the message itself. */
export function withCheckedTypes(message: NormalizedMessage, check: LineCheck): NormalizedMessage {
  const { segments, tool_call, raw, metadata } = message
  const changes: { -readonly [key in keyof NormalizedMessage]?: NormalizedMessage[key] } = {}
  const usableSegments = segments.map((one) => usableSegment(one, check))
  if (usableSegments.some((one, at) => one !== segments[at])) changes.segments = usableSegments
  const call = tool_call && usableCall(tool_call, check)
  if (call && call !== tool_call) changes.tool_call = call
  const reference = withDefaults(only(raw, RAW, check), NO_TYPES) as RawReference
  if (reference !== raw) changes.raw = reference
  const usable = metadata && usableMetadata(metadata, check)
  if (usable && usable !== metadata) changes.metadata = usable
  for (const _ in changes) return { ...message, ...changes }
  return message
}

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isTextOrNull: Test = (value) => value === null || isText(value)
const isStructure: Test = (value) => typeof value === 'object' && value !== null
const isAmong =
  (...words: readonly unknown[]): Test =>
  (value) =>
    words.includes(value)

/** The same object if all fields have their type, otherwise a copy without the others. */
function only<T extends object>(object: T, tests: Readonly<Record<string, Test>>, check: LineCheck): T {
  let rest: { [key: string]: unknown } | undefined
  for (const key in tests) {
    const value = (object as { readonly [key: string]: unknown })[key]
    if (value === undefined || tests[key]?.(value)) continue
    rest ??= { ...object } as { [key: string]: unknown }
    delete rest[key]
    if (value !== null) check.values.add(key)
  }
  return (rest as T | undefined) ?? object
}

/** Adds defaults for missing required fields. */
function withDefaults(object: object, defaults: object): object {
  for (const key in defaults) if (!(key in object)) return { ...defaults, ...object }
  return object
}

const RAW = {
  event_type: isTextOrNull,
  payload_type: isTextOrNull,
  row_key: isText,
  format: isAmong('legacy'),
  payload_role: isText,
  private: isAmong(true),
  encrypted_content_sha256: isText,
  encrypted_content: isText,
}
const NO_TYPES = { event_type: null, payload_type: null }

const SEGMENT = {
  channel: isAmong('input', 'output', 'system'),
  type: isAmong('text', 'image'),
  format: isText,
  text: isText,
  media: isObject,
  annotations: Array.isArray,
}
const PLAIN = { channel: 'system', type: 'text', format: 'text' }
const MEDIA = { data_uri: isText, url: isText, mime_type: isText }

/** Sizes count bytes; annotations count UTF-16 units. */
function usableSegment(given: MessageSegment, check: LineCheck): MessageSegment {
  const segment = withDefaults(only(given, SEGMENT, check), PLAIN) as MessageSegment
  const { media, annotations } = segment
  if (!media && !annotations) return segment
  const usableMedia = media && withoutSize(only(media, MEDIA, check), check)
  const marks = annotations?.filter((mark) => isAnnotation(mark, check))
  if (usableMedia === media && marks?.length === annotations?.length) return segment
  return { ...segment, ...(usableMedia && { media: usableMedia }), ...(marks && { annotations: marks }) }
}

type Media = NonNullable<MessageSegment['media']>

/** If the size is not a number. */
function withoutSize(media: Media, { numbers }: LineCheck): Media {
  const { size_bytes, ...rest } = media
  return numbers.count(size_bytes, 'size_bytes') === size_bytes ? media : rest
}

/** Validates the fields of each kind of annotation. */
const SAYS: Readonly<Record<string, (mark: Readonly<Record<string, unknown>>) => boolean>> = {
  injected: ({ what }) => isText(what),
  link: ({ target }) => isText(target),
  highlight: ({ note }) => note === undefined || isText(note),
}

function isAnnotation(mark: unknown, { numbers, values }: LineCheck): boolean {
  const kind = isObject(mark) ? mark['kind'] : undefined
  if (!isObject(mark) || typeof kind !== 'string' || !Object.hasOwn(SAYS, kind) || !SAYS[kind]?.(mark)) {
    values.add('annotations')
    return false
  }
  return numbers.count(mark['start'], 'start') !== undefined && numbers.count(mark['end'], 'end') !== undefined
}

const CALL = {
  call_id: isTextOrNull,
  name: isTextOrNull,
  namespace: isText,
  status: isToolStatus,
  source_status: isText,
  arguments: isText,
  arguments_json: isStructure,
  input: isText,
  input_json: isStructure,
  output: isText,
  output_json: isStructure,
}
const UNKNOWN_CALL = { call_id: null, name: null, status: 'missing' }

function usableCall(given: ToolCall, check: LineCheck): ToolCall {
  const call = withDefaults(only(given, CALL, check), UNKNOWN_CALL) as ToolCall
  const { exit_code, duration_ms, ...rest } = call
  const code = check.numbers.exitCode(exit_code, 'exit_code')
  const ms = check.numbers.duration(duration_ms, 'duration_ms')
  if (code === exit_code && ms === duration_ms) return call
  return { ...rest, ...(code !== undefined && { exit_code: code }), ...(ms !== undefined && { duration_ms: ms }) }
}

function usableMetadata(given: Metadata, check: LineCheck): Metadata {
  const wrong = wrongMetadataKeys(given)
  const usage = given.usage === undefined ? undefined : usableUsage(given.usage, check)
  if (wrong.length === 0 && usage === given.usage) return given
  const metadata: { [key: string]: unknown } = { ...given }
  for (const key of wrong) {
    delete metadata[key]
    if (key !== 'usage') check.values.add(key)
  }
  if (usage) metadata['usage'] = usage
  return metadata as Metadata
}

function usableUsage(given: unknown, { numbers }: LineCheck): unknown {
  if (!isObject(given)) {
    numbers.add(['usage'])
    return undefined
  }
  const usage = readCheckedUsage(given, numbers)
  return Object.entries(usage).every(([key, count]) => given[key] === count) ? given : { ...given, ...usage }
}

/**
 * Metadata of a message. The keys declared here have one meaning for every agent; only `classify` and its neighbours
 * interpret them. Any other key is a value of the source under its own name: displayed, never interpreted.
 */
import type { Usage } from './usage.ts'

/**
 * Set by adapters only. If a log uses one of these names, the value goes to `extra`, so that a log cannot forge them.
 */
interface AdapterMetadata {
  /** Written into the conversation by the agent, not typed by a person. */
  readonly injected?: true
  /** Copied from the log of the session that this one continues or was forked from. Counted and searchable there. */
  readonly replayed?: true
  /** Id of an earlier message with the same content. */
  readonly duplicate_of?: string
  /** Ids of earlier messages with the same content. This message counts, they do not. */
  readonly duplicates?: readonly string[]
  /** Id of the tool call that this record adds details to. */
  readonly enriches?: string
  /** Ids of earlier messages that this record removes from the conversation, with everything between the first of them and this record. */
  readonly rolled_back?: readonly string[]
  /** The rollback reaches further back than the adapter remembers: `rolled_back` lacks the oldest ids. */
  readonly rolled_back_incomplete?: true
  /** The record has no time of its own; `timestamp` is inferred, as `timestamp_basis` says. */
  readonly timestamp_inferred?: true
  readonly timestamp_basis?: TimestampBasis
  /** The record has no role; `role` is derived from its neighbours. */
  readonly role_inferred?: true
  /** The log contains no call id; `call_id` is derived from the order of calls. */
  readonly call_id_inferred?: true
  /** Part of a tangent, which is dropped when it ends. On a session's header: the state that the tangent returns to. */
  readonly tangent?: true | object
  /** Part of the main conversation while a tangent is open. */
  readonly main?: true
  /** Part of a branch that the conversation has left. */
  readonly aside?: true
  /** `cut`: no longer sent to the model. `new`: not sent to it yet. */
  readonly valid_range?: 'cut' | 'new'
  /** Not sent to the model yet. */
  readonly pending?: true
  /** Inserted by a converter, because the target requires a message here and the source has none. */
  readonly synthetic?: typeof MISSING_MARK
  /** Written during a code review. */
  readonly review?: true
  /** A header that repeats the one of the parent session. */
  readonly ancestor?: true
  /**
   * Native id of the session in which a prompt was typed, in a list of prompts. Null if the list does not contain it.
   */
  readonly prompt_of?: string | null
  /** Id of the message after which this branch departs from its parent. */
  readonly forked_after?: string
  /** The agent's name of an event record. Null if it has none. */
  readonly event_kind?: string | null
  /** Number of history entries of a recorded state, on the message that contains the state. */
  readonly history_entries?: number
  /** Tokens that this message adds to its session. */
  readonly usage?: Usage
  /** The model's reasoning as its server summarized it. */
  readonly reasoning_summary?: string
  /** The model's reasoning as text. */
  readonly reasoning_text?: string
  /** Files and other parts that are neither text nor image. */
  readonly attachments?: readonly Attachment[]
  /** Size in bytes of ciphertext that was left out. */
  readonly encrypted_bytes?: number
  /** Data for an exact conversion back to the source's format. Present only on request. */
  readonly x_conv?: object
  /** Values of the source whose names have another meaning here. */
  readonly extra?: object
}

/** May be copied from a log unchanged. */
interface SourceMetadata {
  /** `summary`: replaces the messages before it. `compaction`: the record of a compaction. Other values belong to the source. */
  readonly kind?: 'summary' | 'compaction' | (string & {})
  /** The model that the message was sent to, or that wrote it. */
  readonly model?: string | null
  /** The source's own id of the message. */
  readonly message_id?: string
  /** Text that the program sent along with the message. */
  readonly additional_context?: string
  /** The agent's names for the blocks of a tool result, in order. */
  readonly blocks?: readonly unknown[]
  /** Amazon Q's environment of a prompt. */
  readonly env?: object
  /** Why an answer ended early. */
  readonly interrupted?: string | true
  /** Codex's report of tokens and rate limits. */
  readonly token_count?: { readonly rate_limits?: unknown; readonly [value: string]: unknown }
}

export interface Metadata extends AdapterMetadata, SourceMetadata {
  readonly [value: string]: unknown
}

/**
 * What an inferred `timestamp` is derived from.
 * `request`: the recorded start of the request that carried the message.
 * `previous`: the time of the record before it.
 * `session`: the session's first time, plus one second per record.
 * `file`: the file's modification time, plus one second per line; only old Codex logs without any time.
 * `none`: the log has no earlier time; counts from 1970-01-01T00:00:00.000Z, one second per record.
 */
export type TimestampBasis = (typeof TIMESTAMP_BASES)[number]
const TIMESTAMP_BASES = ['request', 'previous', 'session', 'file', 'none'] as const

/** As described by the adapter; `format` is the agent's name for the part. */
export interface Attachment {
  readonly format?: unknown
  readonly [value: string]: unknown
}

/** The value of `synthetic`. */
export const MISSING_MARK = 'missing'

type Check = (value: unknown) => boolean
const isTrue: Check = (value) => value === true
const isText: Check = (value) => typeof value === 'string'
const isTextOrNull: Check = (value) => value === null || isText(value)
const isTextList: Check = (value) => Array.isArray(value) && value.every(isText)
const isObjectValue: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

const ADAPTER_CHECKS: { readonly [key in keyof Required<AdapterMetadata>]: Check } = {
  injected: isTrue,
  replayed: isTrue,
  duplicate_of: isText,
  duplicates: isTextList,
  enriches: isText,
  rolled_back: isTextList,
  rolled_back_incomplete: isTrue,
  timestamp_inferred: isTrue,
  timestamp_basis: (value) => TIMESTAMP_BASES.some((basis) => basis === value),
  role_inferred: isTrue,
  call_id_inferred: isTrue,
  tangent: (value) => value === true || isObjectValue(value),
  main: isTrue,
  aside: isTrue,
  valid_range: (value) => value === 'cut' || value === 'new',
  pending: isTrue,
  synthetic: (value) => value === MISSING_MARK,
  review: isTrue,
  ancestor: isTrue,
  prompt_of: isTextOrNull,
  forked_after: isText,
  event_kind: isTextOrNull,
  history_entries: (value) => typeof value === 'number',
  usage: isObjectValue,
  reasoning_summary: isText,
  reasoning_text: isText,
  attachments: (value) => Array.isArray(value) && value.every(isObjectValue),
  encrypted_bytes: (value) => typeof value === 'number',
  x_conv: isObjectValue,
  extra: isObjectValue,
}

const SOURCE_CHECKS: { readonly [key in keyof Required<SourceMetadata>]: Check } = {
  kind: isText,
  model: isTextOrNull,
  message_id: isText,
  additional_context: isText,
  blocks: Array.isArray,
  env: isObjectValue,
  interrupted: (value) => value === true || isText(value),
  token_count: isObjectValue,
}

const ALL_CHECKS: ReadonlyMap<string, Check> = new Map(Object.entries({ ...ADAPTER_CHECKS, ...SOURCE_CHECKS }))

/** Named keys whose values have the wrong type. */
export function wrongMetadataKeys(metadata: { readonly [key: string]: unknown }): readonly string[] {
  const wrong: string[] = []
  for (const key in metadata) if (ALL_CHECKS.get(key)?.(metadata[key]) === false) wrong.push(key)
  return wrong
}

/** Converts values of a log to metadata. Keys that would be misinterpreted go to `extra`. */
export function metadataFromSource(values: { readonly [key: string]: unknown }): Metadata {
  const misread = Object.keys(values).filter((key) => isMisread(key, values[key]))
  if (misread.length === 0) return values as Metadata
  const rest = { ...values }
  const extra: { [key: string]: unknown } = {}
  for (const key of misread) {
    extra[key] = rest[key]
    delete rest[key]
  }
  return { ...(rest as Metadata), extra }
}

const isMisread = (key: string, value: unknown): boolean =>
  key in ADAPTER_CHECKS || ALL_CHECKS.get(key)?.(value) === false || (key === 'kind' && OWN_KINDS.has(value))

const OWN_KINDS: ReadonlySet<unknown> = new Set(['summary', 'compaction'])

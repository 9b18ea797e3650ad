/** Differences between two states that need a closer look. */

import { JsonMap, type JsonValue, parseJson, writeJson } from '../../lib/json/lossless.ts'
import type { Codec } from '../codec/codec.ts'
import { writeAs } from '../codec/write-state.ts'
import { Entries } from '../entries.ts'
import type { CheckpointManager } from '../record.ts'
import { type ConversationCheckpoint, type ConversationState, newState } from '../state.ts'
import { openTangents } from '../tangent.ts'
import { appendTranscript, type Transcript } from '../transcript.ts'
import { FIELD_CODECS } from './apply-change.ts'
import type {
  FieldsChangedEvent,
  LinesTrackedEvent,
  TranscriptChangedEvent,
  TranscriptEvent,
  UntimedEvent,
} from './event.ts'
import * as same from './same-parts.ts'

/** The open tangents from the outermost in. Nothing when the state says it in a way that entering them would not. */
export function enterableTangents(
  state: ConversationState,
): readonly { readonly name: string | null; readonly main: ConversationCheckpoint }[] | undefined {
  const { tangent_state, fumibako } = state
  const named = fumibako?.tangents
  if (!tangent_state) return named ? undefined : []
  if (named && (named.length === 0 || (named.length === 1 && named[0]?.name === null))) return undefined
  const open = openTangents(state).map(({ name, checkpoint }, at) => ({
    name,
    main: at === 0 && checkpoint === null ? tangent_state : at === 0 ? null : checkpoint,
  }))
  const complete = open.filter((one): one is { name: string | null; main: ConversationCheckpoint } => one.main !== null)
  return complete.length === open.length ? complete : undefined
}

/** Most often some lines more; of a full transcript the oldest are gone. */
export function transcriptChange(
  now: Transcript,
  wanted: Transcript,
): UntimedEvent<TranscriptEvent> | UntimedEvent<TranscriptChangedEvent> | undefined {
  const shared = now.shared(wanted)
  if (shared === now.length && shared === wanted.length) return undefined
  const from = shared === now.length ? 0 : countDroppedLines(now, wanted)
  const to = from === undefined ? shared : now.length
  const lines = wanted.slice(from === undefined ? shared : now.length - from).toArray()
  const appended = from === undefined ? undefined : lines.reduce(appendTranscript, now)
  if (appended && appended.length === wanted.length) return { event: 'transcript', lines }
  return { event: 'transcript_changed', from: from ?? 0, to, lines }
}

/** How many lines went at the front, where all others are still there. */
function countDroppedLines(now: Transcript, wanted: Transcript): number | undefined {
  const first = wanted.at(0)
  for (let from = 1; from < now.length && from <= MAX_DROPPED_LINES; from++) {
    const rest = now.slice(from)
    if (rest.at(0) === first && rest.shared(wanted) === rest.length) return from
  }
  return undefined
}

const MAX_DROPPED_LINES = 100

/** In their order. Files that changed places are told anew. */
export function trackerChanges(
  now: ConversationState['file_line_tracker'],
  wanted: ConversationState['file_line_tracker'],
): readonly UntimedEvent<LinesTrackedEvent>[] {
  if (now === wanted) return []
  const paths = [...wanted.keys()]
  const isPrefix = [...now.keys()].every((path, at) => path === paths[at])
  const removals = isPrefix
    ? []
    : [...now.keys()].map((path) => ({ event: 'line_tracker' as const, path, tracker: null }))
  const changed = [...wanted].filter(([path, tracker]) => {
    const known = isPrefix ? now.get(path) : undefined
    return !known || !same.tracker(known, tracker)
  })
  return [...removals, ...changed.map(([path, tracker]) => ({ event: 'line_tracker' as const, path, tracker }))]
}

/** Apart from the histories: their entries were named, so that they need not be written to be compared. */
function isSameManager(now: CheckpointManager | null, wanted: CheckpointManager | null): boolean {
  return now && wanted ? same.manager(withoutHistories(now), withoutHistories(wanted)) : now === wanted
}

const withoutHistories = (manager: CheckpointManager): CheckpointManager => ({
  ...manager,
  checkpoints: manager.checkpoints.map((one) => ({ ...one, history_snapshot: Entries.of() })),
})

const KNOWN_FIELDS: ReadonlySet<string> = new Set([...Object.keys(newState('')), 'model_info'])

/** What no other event has told. */
export function fieldsChange(
  now: ConversationState,
  wanted: ConversationState,
): UntimedEvent<FieldsChangedEvent> | undefined {
  const before = definedFields(now)
  const after = definedFields(wanted)
  const set = new JsonMap<JsonValue>()
  for (const [key, value] of after)
    if (!isCovered(key, now, wanted, before.get(key))) set.set(key, encodeField(key, value))
  const removed = [...before.keys()].filter((key) => !after.has(key) && !KNOWN_FIELDS.has(key))
  const hasUnknownField = [...after.keys()].some((key) => !KNOWN_FIELDS.has(key) && !FIELD_CODECS.has(key))
  const remainingKeys = [...before.keys()].filter((key) => !removed.includes(key))
  const keys = [...new Set([...remainingKeys, ...set.keys()])]
  const order = hasUnknownField && keys.join('\n') !== [...after.keys()].join('\n') ? [...after.keys()] : undefined
  if (set.size === 0 && removed.length === 0 && !order) return undefined
  return { event: 'fields', set, removed, ...(order && { order }) }
}

const definedFields = (state: ConversationState): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(state).filter(([, value]) => value !== undefined))

function isCovered(key: string, now: ConversationState, wanted: ConversationState, before: unknown): boolean {
  const after = wanted[key as keyof ConversationState] as unknown
  if (before === after) return true
  if (key === 'checkpoint_manager') return isSameManager(now.checkpoint_manager, wanted.checkpoint_manager)
  if (key === 'fumibako') return same.ownExtension(now.fumibako ?? null, wanted.fumibako ?? null)
  if (KNOWN_FIELDS.has(key)) return true
  return before !== undefined && writeJson(encodeField(key, before)) === writeJson(encodeField(key, after))
}

function encodeField(key: string, value: unknown): JsonValue {
  const codec: Codec<unknown> | undefined = FIELD_CODECS.get(key)
  if (!codec) return value as JsonValue
  const parsed = parseJson(writeAs(codec, value))
  return parsed.ok ? parsed.value : null
}

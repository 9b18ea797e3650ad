/** The codec of the complete state: context, checkpoints, tangents and our own additions. Reads and writes a state. */

import {
  isJsonArray,
  isJsonObject,
  JsonMap,
  type JsonObject,
  type JsonValue,
  jsonEntries,
} from '../../lib/json/lossless.ts'
import { Entries } from '../entries.ts'
import type { Checkpoint, CheckpointManager, ContextManager, Hook, HookTrigger, SetAside } from '../record.ts'
import type {
  ConversationBranch,
  ConversationCheckpoint,
  ConversationState,
  NamedTangent,
  StateExtension,
} from '../state.ts'
import { findTangentTimeFault, type TangentTime } from '../zoned-time.ts'
import {
  addRepair,
  type Codec,
  describeKind,
  dictionary,
  entryList,
  flag,
  integer,
  list,
  type NotRead,
  nullable,
  type Read,
  type ReadContext,
  type ReadOptions,
  readText,
  readValue,
  text,
  tuple,
  UnreadableError,
  unsigned,
  type WriteOptions,
  writeAs,
} from './codec.ts'
import { fileLineTracker, fileStats, history, modelInfo, summary, timestamp, tools, userMessage } from './entry.ts'
import { freeJson } from './free-json.ts'
import { defaulted, names, optional, required, struct, whenSet } from './struct.ts'

export const hookTrigger: Codec<HookTrigger> = names(
  'hook trigger',
  ['agentSpawn', 'userPromptSubmit', 'preToolUse', 'postToolUse', 'stop'],
  null,
)

const hookFields = struct<Hook & { readonly source?: string }>('Hook', {
  command: required(text),
  timeout_ms: defaulted(unsigned, () => 30_000),
  max_output_size: defaulted(unsigned, () => 10_240),
  cache_ttl_seconds: defaulted(unsigned, () => 0),
  matcher: whenSet(text),
  source: whenSet(names('hook source', ['Agent', 'Session'], 'Agent')),
})

/** The source of a hook is read but never written. */
export const hook: Codec<Hook> = {
  read(value, context) {
    const read = hookFields.read(value, context)
    if (read.source === undefined) return read
    const { source: _, ...written } = read
    return written
  },
  lower: hookFields.lower,
}

const contextFields = struct<ContextManager>('ContextManager', {
  max_context_files_size: required(unsigned),
  current_profile: required(text),
  paths: required(list(text)),
  hooks: required(dictionary(list(hook), hookTrigger)),
})

/** A tolerant read also accepts the shape of v1.12 and earlier. */
export const contextManager: Codec<ContextManager> = {
  read: (value, context) => contextFields.read(context.strict ? value : upgradeContextManager(value, context), context),
  lower: contextFields.lower,
}

export const checkpoint = struct<Checkpoint>('Checkpoint', {
  tag: required(text),
  timestamp: required(timestamp),
  description: required(text),
  history_snapshot: required(history),
  is_turn: required(flag),
  tool_name: optional(text),
})

export const checkpointManager = struct<CheckpointManager>('CheckpointManager', {
  shadow_repo_path: required(text),
  work_tree_path: required(text),
  checkpoints: required(list(checkpoint)),
  tag_index: required(dictionary(unsigned)),
  current_turn: required(unsigned),
  tools_in_turn: required(unsigned),
  pending_user_message: optional(text),
  message_locked: required(flag),
  file_stats_cache: defaulted(dictionary(fileStats), () => new Map()),
})

export const tangentStart: Codec<TangentTime> = {
  read(value, context) {
    if (!Array.isArray(value))
      throw new UnreadableError(context, `expected the nine numbers of a time, found ${describeKind(value)}`)
    const fault = findTangentTimeFault(value)
    if (fault) throw new UnreadableError(context, fault)
    return value as unknown as TangentTime
  },
  lower: (value) => value,
}

export const conversationCheckpoint = struct<ConversationCheckpoint>('ConversationCheckpoint', {
  main_history: required(history),
  main_next_message: optional(userMessage),
  main_transcript: required(entryList(text)),
  main_latest_summary: optional(summary),
  tangent_start_time: { ...defaulted(tangentStart, ({ now }) => now), optionalInArray: true },
})

export const setAside = struct<SetAside>('SetAside', { path: required(text), value: required(freeJson) })

const namedTangent = struct<NamedTangent>('NamedTangent', {
  name: required(nullable(text)),
  checkpoint: required(nullable(conversationCheckpoint)),
})

const branch = struct<ConversationBranch>('Branch', {
  name: required(nullable(text)),
  after: required(integer(0, Number.MAX_SAFE_INTEGER)),
  entries: required(history),
})

export const extension = struct<StateExtension>('Extension', {
  tangents: whenSet(list(namedTangent)),
  branches: whenSet(list(branch)),
  set_aside: whenSet(list(setAside)),
})

export const conversationState = struct<ConversationState>('ConversationState', {
  conversation_id: required(text, () => ''),
  next_message: optional(userMessage),
  history: required(history),
  valid_history_range: required(tuple(unsigned, unsigned), (raw) => [
    0,
    Array.isArray(raw['history']) ? raw['history'].length : 0,
  ]),
  transcript: required(entryList(text), () => Entries.of()),
  tools: required(tools, () => new Map()),
  context_manager: optional(contextManager),
  context_message_length: optional(unsigned),
  latest_summary: optional(summary),
  model: whenSet(text),
  model_info: whenSet(modelInfo),
  file_line_tracker: defaulted(
    dictionary(fileLineTracker),
    () => new Map(),
    () => new Map(),
  ),
  checkpoint_manager: optional(checkpointManager),
  mcp_enabled: defaulted(
    flag,
    () => true,
    () => true,
  ),
  tangent_state: whenSet(conversationCheckpoint),
  fumibako: { ...whenSet(extension), isOwn: true },
})

/** Converts the context manager of v1.12 and earlier. Its old fields are preserved next to the new ones. */
const OLD_TRIGGERS = new Map<unknown, string>([
  ['conversation_start', 'agentSpawn'],
  ['per_prompt', 'userPromptSubmit'],
])

function upgradeContextManager(value: unknown, context: ReadContext): unknown {
  if (!isJsonObject(value)) return value
  const old = new Map(jsonEntries(value))
  if (old.has('paths') || !(old.has('global_config') || old.has('profile_config'))) return value
  addRepair(context, 'old_context_manager', 'the context manager has the shape of v1.12 and before')
  const configs = [old.get('global_config'), old.get('profile_config')].filter(isJsonObject)
  const paths = configs.flatMap((config) => listOf(fieldIn(config, 'paths')))
  const added: readonly [string, JsonValue][] = [
    ['max_context_files_size', old.get('max_context_files_size') ?? 150_000],
    ['current_profile', old.get('current_profile') ?? 'default'],
    ['paths', paths],
    ['hooks', upgradeHooks(configs)],
  ]
  return Object.fromEntries([...added, ...jsonEntries(value).filter(([key]) => !added.some(([name]) => name === key))])
}

/** Old hooks were keyed by name and contained their trigger. Disabled hooks did not run. */
function upgradeHooks(configs: readonly JsonObject[]): JsonValue {
  const byTrigger = new JsonMap<JsonValue[]>()
  for (const config of configs) {
    const hooks = fieldIn(config, 'hooks')
    if (!isJsonObject(hooks)) continue
    for (const [, hook] of jsonEntries(hooks)) {
      if (!isJsonObject(hook) || fieldIn(hook, 'disabled') === true) continue
      const trigger = OLD_TRIGGERS.get(fieldIn(hook, 'trigger'))
      const command = fieldIn(hook, 'command')
      if (trigger === undefined || typeof command !== 'string') continue
      const limits = jsonEntries(hook).filter(([key]) => HOOK_LIMITS.includes(key))
      byTrigger.set(trigger, [...(byTrigger.get(trigger) ?? []), Object.fromEntries([['command', command], ...limits])])
    }
  }
  return Object.fromEntries(byTrigger)
}

const HOOK_LIMITS = ['timeout_ms', 'max_output_size', 'cache_ttl_seconds']

function fieldIn(object: JsonObject, key: string): JsonValue | undefined {
  return object instanceof Map ? object.get(key) : (object as { readonly [key: string]: JsonValue })[key]
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}

export function readState(source: string, options: ReadOptions = {}): Read<ConversationState> | NotRead {
  return readText(source, (value, context) => readStateOrHistory(value, context), options)
}

/** For a value parsed elsewhere, whose numbers may have lost their spelling. */
export function readStateValue(value: unknown, options: ReadOptions = {}): Read<ConversationState> | NotRead {
  return readValue(value, (given, context) => readStateOrHistory(given, context), options)
}

export function writeState(state: ConversationState, options: WriteOptions = {}): string {
  return writeAs(conversationState, state, options)
}

function readStateOrHistory(value: unknown, context: ReadContext): ConversationState {
  if (context.strict) return conversationState.read(value, context)
  const state = conversationState.read(isBareHistory(value) ? wrapBareHistory(value, context) : value, context)
  return context.setAside.length === 0 ? state : withSetAside(state, context.setAside)
}

/** A state may also be an array, but then its first element is the conversation id. */
function isBareHistory(value: unknown): value is readonly JsonValue[] {
  return isJsonArray(value) && typeof value[0] !== 'string'
}

function wrapBareHistory(history: readonly JsonValue[], context: ReadContext): JsonValue {
  addRepair(context, 'bare_history', 'a history without its state')
  return { history }
}

function withSetAside(state: ConversationState, found: readonly SetAside[]): ConversationState {
  const known = state.fumibako?.set_aside ?? []
  return { ...state, fumibako: { ...state.fumibako, set_aside: [...known, ...found] } }
}

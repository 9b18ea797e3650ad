/** The state that Amazon Q, Kiro and fumibako record for a conversation, read from its session message. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../lib/unknown-values.ts'
import { type Instant, toInstant } from '../model/ids.ts'
import type { NormalizedMessage } from '../model/normalized.ts'

/** What the log does not record is undefined. */
export interface RecordedState {
  readonly conversationId: string | undefined
  readonly model: RecordedModel | undefined
  readonly areMcpServersOn: boolean | undefined
  /** The next request sends the entries from `start` up to, but not including, `end`. */
  readonly history: { readonly entries: number; readonly start: number; readonly end: number }
  readonly context: RecordedContext | undefined
  /** Size of the context in the last request. */
  readonly contextBytes: number | undefined
  readonly tools: readonly ToolOrigin[]
  readonly files: readonly { readonly path: string; readonly added: number; readonly removed: number }[]
  readonly tangent: { readonly mainEntries: number; readonly startedAt: Instant | undefined } | undefined
  readonly checkpoints: readonly RecordedCheckpoint[]
  readonly transcriptLines: number
}

interface RecordedModel {
  readonly id: string
  readonly name: string | undefined
  readonly windowTokens: number | undefined
}

interface RecordedContext {
  readonly agentProfile: string | undefined
  readonly limitTokens: number | undefined
  /** Paths and patterns. */
  readonly paths: readonly string[]
  readonly hooks: readonly string[]
}

interface ToolOrigin {
  /** `native`, or the name of an MCP server. */
  readonly origin: string
  readonly native: boolean
  readonly tools: readonly { readonly name: string; readonly description: string }[]
}

interface RecordedCheckpoint {
  readonly tag: string
  /** As recorded, with its time zone. */
  readonly time: string
  readonly description: string | undefined
  /** Number of history entries at that time. */
  readonly entries: number | undefined
  readonly files: { readonly added: number; readonly modified: number; readonly deleted: number } | undefined
}

/** Undefined if the message is not the state of a conversation. */
export function readRecordedState({ source_type, metadata }: NormalizedMessage): RecordedState | undefined {
  if (source_type !== 'session' || metadata?.history_entries === undefined) return undefined
  const entries = numberOf(metadata.history_entries) ?? 0
  const [start, end] = listOf(metadata['valid_history_range'])
  const mcp = metadata['mcp_enabled']
  return {
    conversationId: stringOf(metadata['conversation_id']),
    model: modelIn(metadata),
    areMcpServersOn: typeof mcp === 'boolean' ? mcp : undefined,
    history: { entries, start: numberOf(start) ?? 0, end: numberOf(end) ?? entries },
    context: contextIn(fieldsOf(metadata['context_manager'])),
    contextBytes: numberOf(metadata['context_message_length']),
    tools: toolsIn(metadata['tools']),
    files: Object.entries(fieldsOf(metadata['file_line_tracker']) ?? {}).map(([path, lines]) => ({
      path,
      added: countIn(lines, 'lines_added_by_agent'),
      removed: countIn(lines, 'lines_removed_by_agent'),
    })),
    tangent: tangentIn(metadata.tangent),
    checkpoints: checkpointsIn(fieldsOf(metadata['checkpoint_manager'])),
    transcriptLines: listOf(metadata['transcript']).length,
  }
}

const countIn = (fields: unknown, key: string): number => numberOf(fieldsOf(fields)?.[key]) ?? 0

/** Older versions record only the id. */
function modelIn({ model_info, model }: Fields): RecordedModel | undefined {
  const info = fieldsOf(model_info)
  const id = stringOf(info?.['model_id']) ?? stringOf(model)
  if (id === undefined) return undefined
  return { id, name: stringOf(info?.['model_name']), windowTokens: numberOf(info?.['context_window_tokens']) }
}

function contextIn(manager: Fields | undefined): RecordedContext | undefined {
  if (!manager) return undefined
  // Up to version 1.12 there are two lists.
  const old = [manager['global_config'], manager['profile_config']].flatMap((one) => listOf(fieldsOf(one)?.['paths']))
  return {
    agentProfile: stringOf(manager['current_profile']),
    limitTokens: numberOf(manager['max_context_files_size']),
    paths: [...listOf(manager['paths']), ...old].filter((path) => typeof path === 'string'),
    hooks: Object.keys(fieldsOf(manager['hooks']) ?? {}),
  }
}

const toolsIn = (tools: unknown): readonly ToolOrigin[] =>
  Object.entries(fieldsOf(tools) ?? {}).map(([origin, list]) => ({
    origin: origin === NATIVE ? 'native' : origin,
    native: origin === NATIVE,
    tools: listOf(list).map((one) => {
      const specification = fieldsOf(fieldsOf(one)?.['ToolSpecification'])
      return {
        name: stringOf(specification?.['name']) ?? '?',
        description: stringOf(specification?.['description']) ?? '',
      }
    }),
  }))

const NATIVE = 'native___'

function tangentIn(tangent: unknown): RecordedState['tangent'] {
  const mainEntries = isObject(tangent) ? numberOf(tangent['main_entries']) : undefined
  if (mainEntries === undefined || !isObject(tangent)) return undefined
  return { mainEntries, startedAt: toInstant(tangent['started']) }
}

function checkpointsIn(manager: Fields | undefined): readonly RecordedCheckpoint[] {
  const stats = fieldsOf(manager?.['file_stats_cache'])
  return listOf(manager?.['checkpoints']).flatMap((one) => {
    const { tag, timestamp, description, history_snapshot } = fieldsOf(one) ?? {}
    if (typeof tag !== 'string') return []
    const counts = fieldsOf(stats?.[tag])
    return {
      tag,
      time: stringOf(timestamp) ?? '',
      description: stringOf(description),
      entries: numberOf(history_snapshot),
      files: counts && {
        added: countIn(counts, 'added'),
        modified: countIn(counts, 'modified'),
        deleted: countIn(counts, 'deleted'),
      },
    }
  })
}

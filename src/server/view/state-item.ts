/** The state that an agent recorded for a conversation: model, history, context files, tools, tangent, checkpoints. */
import type { App, LoadedMessage, SessionEntry } from '../../app.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import type { ContextItem, StateItem, ToolOriginItem } from '../../model/api/state.ts'
import { classify, promptMarksOf } from '../../model/classify.ts'
import { toInstant } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { NO_SESSION_FACTS } from '../../model/session-facts.ts'
import { tokensOfBytes } from '../../model/token-estimate.ts'
import { renderHtml } from './message-content.ts'
import { toCheckpointItems } from './session-item.ts'

const DEFAULT_WINDOW_TOKENS = 200_000
const MAX_FILES = 200
const MAX_EDGE_MESSAGES = 20

export async function buildStateItem(app: App, entry: SessionEntry, state: Metadata): Promise<StateItem> {
  const info = fieldsOf(state['model_info'])
  const model = stringOf(info?.['model_id']) ?? stringOf(state['model'])
  const window = numberOf(info?.['context_window_tokens']) ?? DEFAULT_WINDOW_TOKENS
  const entries = numberOf(state['history_entries']) ?? 0
  const [start, end] = listOf(state['valid_history_range'])
  const manager = fieldsOf(state['context_manager'])
  const { summary, next } = await readSummaryAndNext(app, entry)
  return {
    conversation_id: stringOf(state['conversation_id']) ?? entry.native_id,
    model:
      model === undefined ? null : { id: model, name: stringOf(info?.['model_name']) ?? null, window_tokens: window },
    agent_profile: stringOf(manager?.['current_profile']) ?? null,
    mcp_enabled: typeof state['mcp_enabled'] === 'boolean' ? state['mcp_enabled'] : null,
    history: { entries, start: numberOf(start) ?? 0, end: numberOf(end) ?? entries },
    summary,
    context: contextItem(app, manager, entry.project ?? app.environment.home, window, state),
    tools: toolsItem(state['tools']),
    tangent: tangentItem(state['tangent'], entries),
    checkpoints: toCheckpointItems(state),
    files: Object.entries(fieldsOf(state['file_line_tracker']) ?? {}).map(([path, lines]) => ({
      path,
      added: numberOf(fieldsOf(lines)?.['lines_added_by_agent']) ?? 0,
      removed: numberOf(fieldsOf(lines)?.['lines_removed_by_agent']) ?? 0,
    })),
    next_message: next,
    transcript_lines: listOf(state['transcript']).length,
    as_of: entry.last_at,
  }
}

/** The summary is among the first messages, a message that waits to be sent among the last ones. */
async function readSummaryAndNext(
  app: App,
  { id }: SessionEntry,
): Promise<{ summary: StateItem['summary']; next: string | null }> {
  const first = bodiesOf(await app.messages(id, { limit: MAX_EDGE_MESSAGES }))
  const last = bodiesOf(await app.messages(id, { end: true, limit: MAX_EDGE_MESSAGES }))
  const summary = first.find((message) => classify(message).kind === 'summary')
  const waiting = last.find((message) => promptMarksOf(message, NO_SESSION_FACTS).includes('pending'))
  const text = summary && textOf(summary)
  return {
    summary: text === undefined ? null : { text, html: renderHtml(text), at: summary ? recordedTime(summary) : null },
    next: waiting ? textOf(waiting) : null,
  }
}

const bodiesOf = (messages: readonly LoadedMessage[]): readonly NormalizedMessage[] =>
  messages.flatMap((body) => (body.kind === 'body' ? body.message : []))
const textOf = ({ segments }: NormalizedMessage): string => segments.map(({ text }) => text ?? '').join('\n')

function contextItem(app: App, manager: Fields | undefined, cwd: string, window: number, state: Metadata): ContextItem {
  return {
    limit_tokens: numberOf(manager?.['max_context_files_size']) ?? Math.floor((window * 3) / 4),
    last_bytes: numberOf(state['context_message_length']) ?? null,
    patterns: pathsOf(manager).map((pattern) => {
      const files = findGlobFiles(pattern, cwd, app.environment.home, MAX_FILES).map(({ path, size }) => ({
        path,
        bytes: size,
        tokens: tokensOfBytes(size),
      }))
      return { pattern, files, tokens: files.reduce((sum, { tokens }) => sum + tokens, 0) }
    }),
    hooks: Object.keys(fieldsOf(manager?.['hooks']) ?? {}),
  }
}

/** Up to version 1.12 there are two lists. */
function pathsOf(manager: Fields | undefined): readonly string[] {
  const legacyPaths = [manager?.['global_config'], manager?.['profile_config']].flatMap((one) =>
    listOf(fieldsOf(one)?.['paths']),
  )
  return [...listOf(manager?.['paths']), ...legacyPaths].filter((path) => typeof path === 'string')
}

function toolsItem(tools: unknown): readonly ToolOriginItem[] {
  return Object.entries(fieldsOf(tools) ?? {}).map(([origin, list]) => ({
    origin: origin === 'native___' ? 'native' : origin,
    native: origin === 'native___',
    tools: listOf(list).map((one) => {
      const specification = fieldsOf(fieldsOf(one)?.['ToolSpecification'])
      return {
        name: stringOf(specification?.['name']) ?? '?',
        description: stringOf(specification?.['description']) ?? '',
      }
    }),
  }))
}

function tangentItem(tangent: unknown, entries: number): StateItem['tangent'] {
  const main = isObject(tangent) ? numberOf(tangent['main_entries']) : undefined
  if (main === undefined || !isObject(tangent)) return null
  return {
    main_entries: main,
    tangent_entries: Math.max(0, entries - main),
    started_at: toInstant(tangent['started']) ?? null,
  }
}

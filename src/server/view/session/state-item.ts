/** What an agent knew beside what was said: of conversations that keep a state. */
import type { Entry, House } from '../../../app.ts'
import { filesOf } from '../../../lib/files/glob.ts'
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../../lib/object.ts'
import type { ContextItem, StateItem, ToolOriginItem } from '../../../model/api/state.ts'
import { instant } from '../../../model/ids.ts'
import type { Metadata } from '../../../model/normalized.ts'
import { countTokens } from '../../../model/tokens/estimate.ts'
import { htmlOf } from '../rendered.ts'
import { checkpointsIn } from './session-detail.ts'

const WINDOW = 200_000
const MOST_FILES = 200
const MOST_WHOLE = 20

export async function stateItem(house: House, entry: Entry, state: Metadata): Promise<StateItem> {
  const info = fieldsOf(state['model_info'])
  const model = stringOf(info?.['model_id']) ?? stringOf(state['model'])
  const window = numberOf(info?.['context_window_tokens']) ?? WINDOW
  const entries = numberOf(state['history_entries']) ?? 0
  const [start, end] = listOf(state['valid_history_range'])
  const manager = fieldsOf(state['context_manager'])
  const { summary, next } = await besides(house, entry)
  return {
    conversation_id: stringOf(state['conversation_id']) ?? entry.native_id,
    model:
      model === undefined ? null : { id: model, name: stringOf(info?.['model_name']) ?? null, window_tokens: window },
    agent_profile: stringOf(manager?.['current_profile']) ?? null,
    mcp_enabled: typeof state['mcp_enabled'] === 'boolean' ? state['mcp_enabled'] : null,
    history: { entries, start: numberOf(start) ?? 0, end: numberOf(end) ?? entries },
    summary,
    context: contextItem(house, manager, entry.project ?? house.environment.home, window, state),
    tools: toolsItem(state['tools']),
    tangent: tangentItem(state['tangent'], entries),
    checkpoints: checkpointsIn(state),
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

/** The summary stands among the messages that belong to the whole, a waiting message after the last one. */
async function besides(house: House, { id }: Entry): Promise<{ summary: StateItem['summary']; next: string | null }> {
  const first = await house.messages(id, { limit: MOST_WHOLE })
  const last = await house.messages(id, { end: true, limit: MOST_WHOLE })
  const said = first.flatMap((body) =>
    body.kind === 'body' && body.message.metadata?.['kind'] === 'summary' ? body.message : [],
  )[0]
  const waiting = last.flatMap((body) =>
    body.kind === 'body' && body.message.metadata?.['pending'] === true ? body.message : [],
  )[0]
  const text = said?.segments.map((one) => one.text ?? '').join('\n')
  return {
    summary: text === undefined ? null : { text, html: htmlOf(text), at: said?.timestamp ?? null },
    next: waiting?.segments.map((one) => one.text ?? '').join('\n') ?? null,
  }
}

function contextItem(
  house: House,
  manager: Fields | undefined,
  cwd: string,
  window: number,
  state: Metadata,
): ContextItem {
  return {
    limit_tokens: numberOf(manager?.['max_context_files_size']) ?? Math.floor((window * 3) / 4),
    last_bytes: numberOf(state['context_message_length']) ?? null,
    patterns: pathsOf(manager).map((pattern) => {
      const files = filesOf(pattern, cwd, house.environment.home, MOST_FILES).map(({ path, size }) => ({
        path,
        bytes: size,
        tokens: countTokens(size),
      }))
      return { pattern, files, tokens: files.reduce((sum, { tokens }) => sum + tokens, 0) }
    }),
    hooks: Object.keys(fieldsOf(manager?.['hooks']) ?? {}),
  }
}

/** Up to 1.12 they stood in two lists. */
function pathsOf(manager: Fields | undefined): readonly string[] {
  const old = [manager?.['global_config'], manager?.['profile_config']].flatMap((one) =>
    listOf(fieldsOf(one)?.['paths']),
  )
  return [...listOf(manager?.['paths']), ...old].filter((path) => typeof path === 'string')
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
    started_at: instant(tangent['started']) ?? null,
  }
}

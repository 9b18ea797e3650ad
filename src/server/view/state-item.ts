/** The state that an agent recorded for a conversation: model, history, context files, tools, tangent, checkpoints. */
import type { RecordedState } from '../../agents/recorded-state.ts'
import type { App, LoadedMessage, SessionEntry } from '../../app.ts'
import { findGlobFiles } from '../../lib/files/glob.ts'
import type { ContextItem, StateItem } from '../../model/api/state.ts'
import { classify, promptMarksOf } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { NO_SESSION_FACTS } from '../../model/session-facts.ts'
import { tokensOfBytes } from '../../model/token-estimate.ts'
import { renderHtml } from './message-content.ts'
import { toCheckpointItems } from './session-item.ts'

const DEFAULT_WINDOW_TOKENS = 200_000
const MAX_FILES = 200
const MAX_EDGE_MESSAGES = 20

export async function buildStateItem(app: App, entry: SessionEntry, state: RecordedState): Promise<StateItem> {
  const { conversationId, model, history, tangent, context } = state
  const window = model?.windowTokens ?? DEFAULT_WINDOW_TOKENS
  const { summary, next } = await readSummaryAndNext(app, entry)
  return {
    conversation_id: conversationId ?? entry.native_id,
    model: model ? { id: model.id, name: model.name ?? null, window_tokens: window } : null,
    agent_profile: context?.agentProfile ?? null,
    mcp_enabled: state.areMcpServersOn ?? null,
    history,
    summary,
    context: contextItem(app, state, entry.project ?? app.environment.home, window),
    tools: state.tools,
    tangent: tangent
      ? {
          main_entries: tangent.mainEntries,
          tangent_entries: Math.max(0, history.entries - tangent.mainEntries),
          started_at: tangent.startedAt ?? null,
        }
      : null,
    checkpoints: toCheckpointItems(state),
    files: state.files,
    next_message: next,
    transcript_lines: state.transcriptLines,
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

function contextItem(app: App, { context, contextBytes }: RecordedState, cwd: string, window: number): ContextItem {
  return {
    limit_tokens: context?.limitTokens ?? Math.floor((window * 3) / 4),
    last_bytes: contextBytes ?? null,
    patterns: (context?.paths ?? []).map((pattern) => {
      const files = findGlobFiles(pattern, cwd, app.environment.home, MAX_FILES).map(({ path, size }) => ({
        path,
        bytes: size,
        tokens: tokensOfBytes(size),
      }))
      return { pattern, files, tokens: files.reduce((sum, { tokens }) => sum + tokens, 0) }
    }),
    hooks: context?.hooks ?? [],
  }
}

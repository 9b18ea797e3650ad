/** How a conversation stands: model, window, tangents, checkpoints. */
import { relative } from 'node:path'
import { listCheckpoints } from '../../chat/checkpoint/list.ts'
import { contextWindowTokens } from '../../chat/request/fit.ts'
import type { ChatSession } from '../../chat.ts'
import { openTangents } from '../../conversation/tangent.ts'
import type { ChatState } from '../../model/api/chat.ts'
import type { CheckpointItem } from '../../model/api/session.ts'
import { instantFromMs, toInstant } from '../../model/ids.ts'

function sandboxState(
  sandboxing: ChatSession['setup']['sandboxing'],
): Pick<ChatState, 'sandbox' | 'sandbox_problem' | 'sandbox_problem_ja'> {
  const why = sandboxing.kind === 'sandboxed' ? undefined : sandboxing.why
  return { sandbox: sandboxing.kind, sandbox_problem: why?.en ?? null, sandbox_problem_ja: why?.ja ?? null }
}

export function toChatState(session: ChatSession, running: boolean): ChatState {
  const { state, setup } = session
  const tangent = session.tangent()
  return {
    id: state.conversation_id,
    session: `fumibako:${state.conversation_id}`,
    directory: setup.workspace.cwd,
    model: setup.server.model,
    agent: setup.agent.name,
    running,
    window: { tokens: contextWindowTokens(state), percent: session.windowPercent() },
    tangents: openTangents(state).map(({ name }) => name),
    tangent_since: tangent ? (instantFromMs(Date.now() - tangent.seconds * 1000) ?? null) : null,
    checkpoints: listCheckpoints(state).map(
      ({ tag, timestamp, description, files, length }): CheckpointItem => ({
        tag,
        at: toInstant(timestamp) ?? timestamp,
        description,
        entries: length,
        files,
      }),
    ),
    attached: session.attachments.map((path) => relative(setup.workspace.cwd, path)),
    waiting: !running && state.next_message !== null,
    ...sandboxState(setup.sandboxing),
  }
}

/** How a conversation stands: model, window, tangents, checkpoints. */
import { relative } from 'node:path'
import { listCheckpoints } from '../../chat/checkpoint/list.ts'
import { windowTokens } from '../../chat/request/fit.ts'
import type { Talk } from '../../chat.ts'
import { openTangents } from '../../conversation/tangent.ts'
import type { ChatState } from '../../model/api/chat.ts'
import type { CheckpointItem } from '../../model/api/session.ts'
import { instant, instantOf } from '../../model/ids.ts'

function sandboxOf(
  sandboxing: Talk['rig']['sandboxing'],
): Pick<ChatState, 'sandbox' | 'sandbox_problem' | 'sandbox_problem_ja'> {
  const why = sandboxing.kind === 'sandboxed' ? undefined : sandboxing.why
  return { sandbox: sandboxing.kind, sandbox_problem: why?.en ?? null, sandbox_problem_ja: why?.ja ?? null }
}

export function stateOf(talk: Talk, running: boolean): ChatState {
  const { state, rig } = talk
  const tangent = talk.tangent()
  return {
    id: state.conversation_id,
    session: `fumibako:${state.conversation_id}`,
    directory: rig.place.cwd,
    model: rig.server.model,
    agent: rig.agent.name,
    running,
    window: { tokens: windowTokens(state), percent: talk.fullness() },
    tangents: openTangents(state).map(({ name }) => name),
    tangent_since: tangent ? (instantOf(Date.now() - tangent.seconds * 1000) ?? null) : null,
    checkpoints: listCheckpoints(state).map(
      ({ tag, timestamp, description, files, length }): CheckpointItem => ({
        tag,
        at: instant(timestamp) ?? timestamp,
        description,
        entries: length,
        files,
      }),
    ),
    attached: talk.attachments.map((path) => relative(rig.place.cwd, path)),
    waiting: !running && state.next_message !== null,
    ...sandboxOf(rig.sandboxing),
  }
}

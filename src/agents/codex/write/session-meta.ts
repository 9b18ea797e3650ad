/** The first line of a log: without its five fields Codex does not list the session. */
import { type Fields, nonEmptyStringOf } from '../../../lib/object.ts'
import { UUID_PATTERN } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import type { AgentWriteOptions } from '../../agent.ts'
import { AGENT_ID } from '../find.ts'

/** Also behind the name of the agent that gave it. */
const UUID_AT_END = new RegExp(`(?:^|:)(${UUID_PATTERN})$`, 'i')

/** @param own what the session's first record says, where it is Codex's: only what it lacks is added */
export function sessionMeta(session: Session, { cwd, newId }: AgentWriteOptions, own?: Fields): Fields {
  const id = UUID_AT_END.exec(nonEmptyStringOf(own?.['id']) ?? session.native_id)?.[1]
  const codexSession = session.agent === AGENT_ID ? session : undefined
  return {
    ...own,
    id: id ?? newId(),
    timestamp: nonEmptyStringOf(own?.['timestamp']) ?? session.started_at,
    cwd: cwd ?? nonEmptyStringOf(own?.['cwd']) ?? session.cwd ?? '/',
    originator: nonEmptyStringOf(own?.['originator']) ?? codexSession?.originator ?? 'fumibako',
    cli_version: nonEmptyStringOf(own?.['cli_version']) ?? codexSession?.agent_version ?? '0.0.0',
    ...(!own && { source: 'cli', model_provider: codexSession?.model_provider ?? 'openai' }),
    ...(!own && session.git && { git: session.git }),
  }
}

/** The first line of a log: without its five fields Codex does not list the session. */
import { type Fields, wordOf } from '../../../lib/object.ts'
import { UUID } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import type { WriteOptions } from '../../agent.ts'
import { AGENT_ID } from '../find.ts'

/** Also behind the name of the agent that gave it. */
const ID = new RegExp(`(?:^|:)(${UUID})$`, 'i')

/** @param own what the session's first record says, where it is Codex's: only what it lacks is added */
export function sessionMeta(session: Session, { cwd, newId }: WriteOptions, own?: Fields): Fields {
  const id = ID.exec(wordOf(own?.['id']) ?? session.native_id)?.[1]
  const theirs = session.agent === AGENT_ID ? session : undefined
  return {
    ...own,
    id: id ?? newId(),
    timestamp: wordOf(own?.['timestamp']) ?? session.started_at,
    cwd: cwd ?? wordOf(own?.['cwd']) ?? session.cwd ?? '/',
    originator: wordOf(own?.['originator']) ?? theirs?.originator ?? 'fumibako',
    cli_version: wordOf(own?.['cli_version']) ?? theirs?.agent_version ?? '0.0.0',
    ...(!own && { source: 'cli', model_provider: theirs?.model_provider ?? 'openai' }),
    ...(!own && session.git && { git: session.git }),
  }
}

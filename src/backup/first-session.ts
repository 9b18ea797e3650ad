/** The header of a source, without reading the rest. */
import type { Agent, Source } from '../agents/agent.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import type { Session } from '../model/session.ts'

/** The first header with a directory, or else the first one. Undefined if there is none or the source cannot be read. */
export async function firstSession(agent: Agent, source: Source): Promise<Session | undefined> {
  let first: Session | undefined
  try {
    for await (const items of agent.scan(source))
      for (const item of items) {
        if (item.kind !== 'session') continue
        first ??= item.session
        if (item.session.cwd !== undefined) return item.session
      }
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
  return first
}

/** Who asks: the program, its directory, and the session that it is in. */
import type { App, SessionEntry } from '../app.ts'
import { fieldsOf, nonEmptyStringOf } from '../lib/unknown-values.ts'
import type { SessionId } from '../model/ids.ts'

export interface Caller {
  /** Directory of the calling program. Undefined over HTTP and on the page: all projects are in scope. */
  readonly cwd: string | undefined
  /** Name of the client as it introduces itself: `claude-code`, `codex-mcp-client` … */
  readonly client: string | undefined
  /** Ids by which the caller refers to its session. */
  readonly ids: readonly string[]
  /** When the connection began. A session that has not changed since is not the caller's. */
  readonly since: number
}

/** Variables in which programs pass the id of their session to what they start. */
const SESSION_VARIABLES = ['CLAUDE_CODE_SESSION_ID', 'CLAUDE_SESSION_ID', 'CODEX_THREAD_ID', 'GEMINI_SESSION_ID']

export const sessionIdsOfEnvironment = (variables: NodeJS.ProcessEnv): readonly string[] =>
  SESSION_VARIABLES.flatMap((name) => nonEmptyStringOf(variables[name]) ?? [])

const MAX_DEPTH = 3
const SESSION_KEY = /(?:session|thread|conversation)_?-?id$/i

/** Ids in the `_meta` of a request, under whatever name the client gives them. */
export function sessionIdsOfMeta(meta: unknown, depth = 0): readonly string[] {
  const fields = fieldsOf(meta)
  if (!fields || depth > MAX_DEPTH) return []
  return Object.entries(fields).flatMap(([key, value]) =>
    typeof value === 'string' && SESSION_KEY.test(key) ? value : sessionIdsOfMeta(value, depth + 1),
  )
}

/** The agent whose client this is, if its name says so. */
function agentOfClient(client: string | undefined, agents: readonly string[]): string | undefined {
  const words = client?.toLowerCase().replaceAll(/[^a-z]+/g, '-')
  return words === undefined
    ? undefined
    : agents
        .filter((one) => words.includes(one))
        .sort(byLength)
        .at(-1)
}

const byLength = (a: string, b: string): number => a.length - b.length

/** Clients write the call into their log before they make it, or soon after their start. */
const TOLERANCE_MS = 5000

/**
 * The session from which the call comes: the one that the caller names, else the newest that its agent has changed in
 * its directory since the connection began.
 *
 * @param project the directory, as the index names it
 */
export async function findCallingSession(
  app: App,
  caller: Caller,
  project: string | undefined,
): Promise<SessionEntry | undefined> {
  for (const id of caller.ids) {
    const found = app.findSessions(id).find((one) => one.native_id === id || one.id === id)
    if (found) return found
  }
  const { client, since } = caller
  if (project === undefined) return undefined
  const agent = agentOfClient(client, await app.agentIds())
  if (agent === undefined) return undefined
  const filter = { agents: [agent], project, since: since - TOLERANCE_MS }
  return app.list({ ...filter, limit: 1, children: 'all' }).sessions[0]
}

/** The calling session, and those that it started. */
export function withChildren(app: App, session: SessionEntry): readonly SessionId[] {
  const { sessions } = app.list({ children: { of: session.id }, kind: 'any', limit: MAX_CHILDREN })
  return [session.id, ...sessions.map(({ id }) => id)]
}

const MAX_CHILDREN = 1000

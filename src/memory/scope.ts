/** Which sessions an answer may use, and why others are left out. */
import { dirname, isAbsolute, resolve } from 'node:path'
import type { SessionFilter } from '../app.ts'
import { type App, parsePeriod, type SessionEntry } from '../app.ts'
import { ProjectPaths } from '../index/project-paths.ts'
import { findGitProject } from '../lib/git/project.ts'
import type { SessionId } from '../model/ids.ts'
import { nearestName } from '../model/nearest-name.ts'
import { type Caller, findCallingSession, withChildren } from './caller.ts'
import { printableId } from './citation.ts'
import { ToolProblem } from './tool-problem.ts'

export interface ScopeWish {
  /** A directory, a part of one, or `all`. Default: the caller's project. */
  readonly project?: string | undefined
  readonly agent?: string | undefined
  readonly since?: string | undefined
}

export interface Scope {
  /** Undefined: all projects. */
  readonly project: string | undefined
  readonly agent: string | undefined
  readonly since: number | undefined
  /** Conditions as the index takes them. */
  readonly filter: SessionFilter
  /** The session from which the call comes, with those that it started. Never part of an answer. */
  readonly calling: readonly SessionId[]
  /** What the owner excludes. Never part of an answer, and never counted. */
  readonly excluded: readonly SessionId[]
}

export const ALL_PROJECTS = 'all'

export async function resolveScope(app: App, caller: Caller, wish: ScopeWish): Promise<Scope> {
  const own = caller.cwd === undefined ? undefined : projectOfDirectory(app, caller.cwd)
  const project = wish.project === undefined ? own : toProject(app, caller, wish.project)
  const agent = wish.agent === undefined ? undefined : await checkAgent(app, wish.agent)
  const since = wish.since === undefined ? undefined : parseSince(wish.since)
  const calling = await findCallingSession(app, caller, own)
  return {
    project,
    agent,
    since,
    filter: {
      ...(project !== undefined && { project }),
      ...(agent !== undefined && { agents: [agent] }),
      ...(since !== undefined && { since }),
    },
    calling: calling ? withChildren(app, calling) : [],
    excluded: await excludedSessions(app),
  }
}

/**
 * The root of the repository, of its main work tree, at its present place. A home directory and the root of the file
 * system contain everything and are no project.
 */
function projectOfDirectory(app: App, cwd: string): string | undefined {
  const git = findGitProject(cwd)
  const root = git?.root ?? resolve(cwd)
  if (root === resolve(app.environment.home) || root === dirname(root)) return undefined
  return new ProjectPaths(app.directory).projectOf(root)
}

function toProject(app: App, { cwd }: Caller, typed: string): string | undefined {
  if (typed === ALL_PROJECTS || typed === '') return undefined
  if (!/^\.{1,2}$|[/\\]|^~/.test(typed)) return typed
  const path = typed === '~' || typed.startsWith('~/') ? app.environment.home + typed.slice(1) : typed
  if (!isAbsolute(path) && cwd === undefined)
    throw new ToolProblem(`project: "${typed}" is relative. Pass an absolute path, a directory name, or "all".`)
  return new ProjectPaths(app.directory).projectOf(resolve(cwd ?? '/', path))
}

async function checkAgent(app: App, typed: string): Promise<string> {
  const known = await app.agentIds()
  if (known.includes(typed)) return typed
  const nearest = nearestName(typed, known)
  throw new ToolProblem(
    `agent: "${typed}" is unknown. ${nearest === undefined ? '' : `Did you mean ${nearest}? `}Available: ${known.join(', ')}.`,
  )
}

function parseSince(text: string): number {
  const period = parsePeriod(text, new Date())
  if (!period) throw new ToolProblem(`since: "${text}" is not a date. Use 2026-11-15, 2026-11, today, 7d or 12h.`)
  return Date.parse(period.from)
}

const EVERYTHING = 1_000_000

/** Sessions that the settings `memory.skip` and `memory.skipSessions` name. */
async function excludedSessions(app: App): Promise<readonly SessionId[]> {
  const { skip, skipSessions } = (await app.config()).memory
  const all = { kind: 'any', children: 'all', limit: EVERYTHING } as const
  const found = skip.flatMap((directory) => {
    const places = new Set([directory, new ProjectPaths(app.directory).projectOf(directory)])
    return [...places].flatMap((project) => app.list({ ...all, project }).sessions)
  })
  const named = skipSessions.flatMap((name) => app.findSessions(name))
  const ids = new Set([...found, ...named].map(({ id }) => id))
  // What a session started, and what continues it, repeats its text.
  for (const id of ids) for (const child of app.list({ ...all, children: { of: id } }).sessions) ids.add(child.id)
  return [...ids]
}

/** Throws if the owner excludes it: as if it did not exist, so that nothing can be learned from asking. */
export async function findSession(app: App, name: string): Promise<SessionEntry> {
  const excluded = new Set(await excludedSessions(app))
  const found = app.findSessions(name).filter(({ id }) => !excluded.has(id))
  const [first] = found
  if (!first)
    throw new ToolProblem(
      `No session "${name}" in the archive. Cite it as search and list do: agent/id, or a beginning of the id that is unique.`,
    )
  if (found.length > 1)
    throw new ToolProblem(
      `"${name}" is the beginning of several sessions: ${found.map((one) => printableId(app, one)).join(', ')}.`,
    )
  return first
}

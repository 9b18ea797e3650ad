/** The sessions of this machine, or of some files, as a list: newest first, each with what its first lines tell. */
import { catchReaderErrors } from '../../agents/catch-reader-errors.ts'
import type { App, BackedUpSession } from '../../app.ts'
import { statOf } from '../../lib/files/safe-fs.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, instantFromMs, type SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import type { Session } from '../../model/session.ts'
import type { Log } from '../../normalize.ts'
import { incompleteError } from '../incomplete-results.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'

export interface LogSession {
  readonly log: Log
  readonly session: Session
  readonly last_at: Instant
  /** Absent where only the beginning was looked at. */
  readonly messages: number | undefined
  /** Set for what is kept and no longer in its store. */
  readonly kept: BackedUpSession | undefined
}

export interface LogSessions {
  readonly sessions: readonly LogSession[]
  readonly issues: readonly Issue[]
}

/** Copies of one session come once, the longest. */
export async function listLogSessions(app: App, paths: readonly string[]): Promise<LogSessions> {
  const found = new Map<string, LogSession>()
  const issues: Issue[] = []
  const add = async (candidate: Log & { readonly kept?: BackedUpSession }): Promise<void> => {
    for (const one of candidate.unknown ? [] : await scanLog(candidate, issues)) {
      const known = found.get(one.session.id)
      if (!known || (one.messages ?? 0) > (known.messages ?? 0)) found.set(one.session.id, one)
    }
  }
  for await (const log of app.findLogs(paths)) await add(log)
  for await (const candidate of app.backupService.onlyInBackup(new Set(found.keys()), paths)) await add(candidate)
  const sessions = [...found.values()].sort((a, b) => (a.last_at < b.last_at ? 1 : -1))
  return { sessions, issues }
}

/** How far into a large log is looked for its header and first prompt. */
const MAX_HEADER_BYTES = 2_000_000

/** What follows a header belongs to its session. */
async function scanLog(
  candidate: Log & { readonly kept?: BackedUpSession },
  issues: Issue[],
): Promise<readonly LogSession[]> {
  const { agent, source } = candidate
  const seen = new Map<string, { session: Session; messages: number }>()
  let open: { session: Session; messages: number } | undefined
  let isComplete = true
  for await (const batch of catchReaderErrors(source, agent.scan(source))) {
    let offset = 0
    for (const one of batch) {
      if (one.kind === 'session') {
        open = { session: one.session, messages: seen.get(one.session.id)?.messages ?? 0 }
        seen.set(one.session.id, open)
      }
      if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
      if (one.kind === 'counts' && open) open.messages += one.counts.messages
      if (one.kind === 'cursor') offset = one.cursor.offset ?? 0
    }
    const isKnown = offset > MAX_HEADER_BYTES || (offset > 0 && open?.session.first_prompt !== undefined)
    isComplete = !(isKnown && seen.size === 1)
    if (!isComplete) break
  }
  const modified = modifiedAt(source.path)
  return Array.from(seen.values(), ({ session, messages }) => ({
    log: candidate,
    session,
    last_at: session.last_at ?? modified ?? session.started_at,
    messages: isComplete ? messages : undefined,
    kept: candidate.kept,
  }))
}

function modifiedAt(path: string): Instant | undefined {
  const file = statOf(path)
  return file && instantFromMs(Math.trunc(file.mtimeMs))
}

/** A session that was asked for. */
export interface FoundSession {
  readonly session: Session
  /** Nothing when its source is gone. */
  readonly log: Log | undefined
  /** Set for what is kept and no longer in its store. */
  readonly kept: BackedUpSession | undefined
}

/** By its id, by the agent's own, or by the beginning of either. @param within a database, file or folder to look in */
export async function findSession(app: App, name: string, within?: string): Promise<FoundSession> {
  if (within === undefined && (await refreshIndex(app, 'first'))) {
    const { id } = onlySession(name, app.findSessions(name), app.index.unreadable())
    const session = app.index.header(id)
    if (session) return { session, log: await app.logOf(id), kept: findEndedBackup(app, id) }
  }
  const { sessions, issues } = await listLogSessions(app, within === undefined ? [] : [within])
  const { id } = onlySession(
    name,
    matchByName(
      name,
      sessions.map(({ session }) => session),
    ),
    issues,
  )
  return sessions.find(({ session }) => session.id === id) as LogSession
}

/** What the backup knows of a session that is no longer in its store. */
export function findEndedBackup(app: App, id: SessionId): BackedUpSession | undefined {
  const backup = app.backup.get(id)
  return backup?.ended_at === undefined ? undefined : backup
}

const MIN_NAME_LENGTH = 4

function matchByName(name: string, sessions: readonly Session[]): readonly Session[] {
  const exact = sessions.find(({ id, native_id }) => id === name || native_id === name)
  if (exact) return [exact]
  return sessions.filter(
    ({ id, native_id }) => name.length >= MIN_NAME_LENGTH && (id.startsWith(name) || native_id.startsWith(name)),
  )
}

function onlySession(
  name: string,
  found: readonly { readonly id: SessionId }[],
  issues: readonly Issue[],
): { readonly id: SessionId } {
  const [only, ...more] = found
  if (only && more.length === 0) return only
  if (only) {
    const first = found
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', ')
    throw new AppError(
      'bad_usage',
      `several sessions begin with ${name}: ${first} … Give more of it.`,
      `${name} で始まる会話が複数あります: ${first} … もっと長く指定してください。`,
    )
  }
  const missing = incompleteError(issues)
  if (missing) throw missing
  throw new AppError(
    'not_found',
    `there is no session ${name}, and no file of that name. See fumi list.`,
    `${name} という会話もファイルもありません。fumi list で確かめてください。`,
  )
}

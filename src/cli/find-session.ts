/** Finds the sessions of this machine or of given files, and the one that a command names. */
import { existsSync } from 'node:fs'
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { App, BackedUpSession } from '../app.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { AppError } from '../model/error.ts'
import type { Instant, SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { phrase } from '../model/phrase.ts'
import { TimeRange } from '../model/recorded-time.ts'
import type { Session } from '../model/session.ts'
import type { Log } from '../normalize.ts'
import { findLogsAt } from './find-logs.ts'
import { refreshIndex } from './index-queries/refresh-index.ts'
import { say } from './language.ts'
import { writeErr, writeOut } from './output.ts'
import { incompleteError } from './report-issues.ts'

export interface LogSession {
  readonly log: Log
  readonly session: Session
  readonly last_at: Instant | null
  readonly messages: number
  /** Set if the session is in the backup and no longer in its store. */
  readonly kept: BackedUpSession | undefined
}

/** Newest first. Of several copies of a session, lists the longest. */
export async function listLogSessions(
  app: App,
  paths: readonly string[],
): Promise<{ readonly sessions: readonly LogSession[]; readonly issues: readonly Issue[] }> {
  const found = new Map<string, LogSession>()
  const issues: Issue[] = []
  const add = async (candidate: Log & { readonly kept?: BackedUpSession }): Promise<void> => {
    for (const one of candidate.unknown ? [] : await scanLog(candidate, issues)) {
      const known = found.get(one.session.id)
      if (!known || one.messages > known.messages) found.set(one.session.id, one)
    }
  }
  for await (const log of app.findLogs(paths)) await add(log)
  for await (const candidate of app.backupService.onlyInBackup(new Set(found.keys()), paths)) await add(candidate)
  const sessions = [...found.values()].sort((a, b) => ((a.last_at ?? '') < (b.last_at ?? '') ? 1 : -1))
  return { sessions, issues }
}

/** Records belong to the session whose header precedes them. */
async function scanLog(
  candidate: Log & { readonly kept?: BackedUpSession },
  issues: Issue[],
): Promise<readonly LogSession[]> {
  const { agent, source } = candidate
  const seen = new Map<string, { session: Session; messages: number; readonly times: TimeRange }>()
  let open: { session: Session; messages: number; readonly times: TimeRange } | undefined
  for await (const batch of catchReaderErrors(source, agent.scan(source))) {
    for (const one of batch) {
      if (one.kind === 'session') {
        const { messages = 0, times = new TimeRange() } = seen.get(one.session.id) ?? {}
        open = { session: one.session, messages, times }
        seen.set(one.session.id, open)
      }
      if (one.kind === 'times' && open) for (const at of [one.first, one.last]) open.times.add(at)
      if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
      if (one.kind === 'counts' && open) open.messages += one.counts.messages
    }
  }
  return Array.from(seen.values(), ({ session, messages, times }) => ({
    log: candidate,
    session: { ...session, started_at: session.started_at ?? times.first },
    last_at: session.last_at ?? times.last ?? session.started_at,
    messages,
    kept: candidate.kept,
  }))
}

/** A session that the user named. */
export interface FoundSession {
  readonly session: Session
  /** Undefined if its log is gone. */
  readonly log: Log | undefined
  /** Set if the session is in the backup and no longer in its store. */
  readonly kept: BackedUpSession | undefined
}

/** @param within the database, file or folder to search */
export async function findSession(app: App, name: string, within?: string): Promise<FoundSession> {
  if (within === undefined && (await refreshIndex(app, 'first'))) {
    const { id } = await onlySession(app, name, app.findSessions(name), app.index.unreadable())
    const session = app.index.header(id)
    const backup = app.backup.get(id)
    if (session) return { session, log: await app.logOf(id), kept: backup?.ended_at === undefined ? undefined : backup }
  }
  const { sessions, issues } = await listLogSessions(app, within === undefined ? [] : [within])
  const matching = matchByName(name, sessions, ({ session }) => [session.id, session.native_id])
  const { id } = await onlySession(
    app,
    name,
    matching.map(({ session }) => session),
    issues,
  )
  return matching.find(({ session }) => session.id === id) as LogSession
}

/** The header of an indexed session. Throws `not_found`. */
export async function findIndexed(app: App, name: string): Promise<Session> {
  await refreshIndex(app, 'first', 'an index')
  const { id } = await onlySession(app, name, app.findSessions(name), app.index.unreadable())
  const session = app.index.header(id)
  if (session) return session
  throw new AppError('not_found', `No session matches ${name}.`, `${name} という会話はありません。`)
}

/** Shorter names match too much. */
const MIN_NAME_LENGTH = 4

/** Matches the complete first id first, then any complete id, then the beginning of one. */
export function matchByName<T>(
  name: string,
  all: readonly T[],
  idsOf: (one: T) => readonly (string | undefined)[],
): readonly T[] {
  const exact = all.filter((one) => idsOf(one).includes(name))
  const first = exact.find((one) => idsOf(one)[0] === name)
  if (exact.length > 0) return first ? [first] : exact
  return name.length < MIN_NAME_LENGTH ? [] : all.filter((one) => idsOf(one).some((id) => id?.startsWith(name)))
}

/**
 * The session that the name means. Throws AppError.
 * @param found newest first. Copies of one conversation in several programs have the same id of their own: the newest is meant
 */
async function onlySession(
  app: App,
  name: string,
  found: readonly NamedSession[],
  issues: readonly Issue[],
): Promise<{ readonly id: SessionId }> {
  const [only, ...more] = found
  if (only && more.length === 0) return only
  if (only && more.every(({ native_id }) => native_id === only.native_id)) {
    const others = more.map(({ id }) => id).join(', ')
    await writeErr(
      `fumi: ${say(`${name} is in several programs; using the newest, ${only.id}. The others: ${others}`, `${name} は複数のプログラムにあります。新しい ${only.id} を使います。ほか: ${others}`)}\n`,
    )
    return only
  }
  if (only) {
    const first = found
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', ')
    throw new AppError(
      'bad_usage',
      `${name} matches several sessions: ${first} … Type more characters of the id.`,
      `${name} で始まる会話が複数あります: ${first} … ID をもっと長く指定してください。`,
    )
  }
  throw (
    incompleteError(issues) ??
    forgottenError(app, name) ??
    new AppError(
      'not_found',
      `No session or file matches ${name}. Run fumi list for a list.`,
      `${name} という会話もファイルもありません。会話の一覧は fumi list で見られます。`,
    )
  )
}

type NamedSession = Pick<Session, 'id' | 'native_id'>

function forgottenError(app: App, name: string): AppError | undefined {
  const ids = app.backup.forgotten().map(({ session }) => session)
  const [only, ...more] = matchByName(name, ids, (id) => [id, id.slice(id.indexOf(':') + 1)])
  if (only === undefined || more.length > 0) return undefined
  return new AppError(
    'not_found',
    `You removed ${only} with fumi forget. To index it again: fumi forget --undo ${only}`,
    `${only} は fumi forget で取り除いてあります。再び索引に入れるには: fumi forget --undo ${only}`,
  )
}

interface ChosenSession {
  readonly id: SessionId
  /** Numbers of its branches, which are sessions themselves. */
  readonly branches: readonly number[]
}

/** The log and the session that a command is about. */
export interface ChosenLog extends ChosenSession {
  readonly log: Log
}

export interface SessionSelector {
  /** The database, file or folder to search. */
  readonly in?: string
  /** One of several conversations in a file. */
  readonly session?: string
}

/** Finds a session by its name or file; `-` is standard input. Throws `not_found` if its log is gone. */
export async function resolveLog(app: App, name: string, options: SessionSelector): Promise<ChosenLog> {
  const { log, ...found } = await resolveSession(app, name, options)
  if (log) return { ...found, log }
  throw new AppError(
    'not_found',
    `The log of ${found.id} no longer exists, and there is no backup. Run fumi show to see what the index still has.`,
    `${found.id} のログがなく、バックアップもありません。索引に残る情報は fumi show で見られます。`,
  )
}

/** Like `resolveLog`, but returns no log if it is gone. */
export async function resolveSession(
  app: App,
  name: string,
  options: SessionSelector,
): Promise<ChosenSession & { readonly log: Log | undefined }> {
  if (options.in === undefined && (name === '-' || existsSync(name))) {
    const log = onlyLog(name, await findLogsAt([name]))
    return { log, ...(await chooseSession(name, log, options.session)) }
  }
  const { log, session } = await findSession(app, name, options.in)
  return { log, id: session.id, branches: [] }
}

function isEmptyFile(path: string): boolean {
  const stat = statOf(path)
  return stat?.isFile() === true && stat.size === 0
}

function onlyLog(path: string, logs: readonly Log[]): Log {
  const [log, ...others] = logs
  if ((!log || log.unknown) && isEmptyFile(path))
    throw new AppError(
      'nothing_readable',
      `${path} is empty: its program has written nothing yet. Try again later.`,
      `${path} は空です。プログラムがまだ何も書いていません。後でもう一度試してください。`,
    )
  if (!log || log.unknown)
    throw new AppError(
      'nothing_readable',
      `${path} is not a log of a supported agent. Run fumi detect to identify it.`,
      `${path} は対応するエージェントのログではありません。何のファイルかは fumi detect で分かります。`,
    )
  if (others.length === 0) return log
  throw new AppError(
    'bad_usage',
    log.source.key === undefined
      ? phrase(
          `${path} contains ${others.length + 1} logs. Specify one of them, for example ${log.source.path}`,
          `${path} にはログが ${others.length + 1} 件あります。ファイルを 1 つ指定してください。例: ${log.source.path}`,
        )
      : phrase(
          `${path} contains ${others.length + 1} conversations. Run fumi list ${path} for a list, then pass the id of one with --in ${path}`,
          `${path} には会話が ${others.length + 1} 件あります。fumi list ${path} で ID を調べ、--in ${path} とともに指定してください。`,
        ),
  )
}

/** The session with the requested number or id; otherwise the only one that is not a branch. */
async function chooseSession(path: string, log: Log, requested: string | undefined): Promise<ChosenSession> {
  const families = new SessionFamilies()
  const issues: Issue[] = []
  const first: (readonly [number: string, name: string])[] = []
  let chosen: { readonly id: SessionId; readonly branches: number[] } | undefined
  for await (const batch of log.agent.scan(log.source))
    for (const one of batch) {
      if (one.kind === 'issue' && one.issue.code === 'unreadable') issues.push(one.issue)
      const place = one.kind === 'session' ? families.add(one.session) : 'known'
      if (one.kind !== 'session' || place === 'known') continue
      const { id, native_id } = one.session
      const number = families.conversations + families.branches
      if (place === 'branch' && families.current === chosen?.id) chosen?.branches.push(number)
      if (place === 'conversation' && first.length < MAX_LISTED_SESSIONS)
        first.push([String(number), sessionName(one.session)])
      if (requested === undefined ? place === 'conversation' : [String(number), id, native_id].includes(requested))
        chosen ??= { id, branches: [] }
    }
  const { conversations } = families
  if (conversations === 0) throw incompleteError(issues) ?? noSessionError(path)
  if (chosen && (requested !== undefined || conversations === 1)) return chosen
  // Goes to standard output: errors never contain text of a conversation.
  await writeOut(await renderChoices(first, conversations))
  const count = conversations === 1 ? '1 conversation' : `${conversations} conversations`
  const none = requested === undefined ? '' : `, but none has the number or id ${requested}`
  const noneJa = requested === undefined ? '' : `が、番号または ID が ${requested} のものはありません`
  throw new AppError(
    'bad_usage',
    `${path} contains ${count}${none}. Select one by number or id with --session.`,
    `${path} には会話が ${conversations} 件あります${noneJa}。--session に番号か ID を指定して選んでください。`,
  )
}

const MAX_LISTED_SESSIONS = 10
/** Longer than any terminal line. */
const MAX_NAME_LENGTH = 200

const sessionName = ({ title, first_prompt, id }: Session): string =>
  (title ?? first_prompt ?? id).replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, MAX_NAME_LENGTH)

async function renderChoices(first: readonly (readonly string[])[], conversations: number): Promise<string> {
  const { formatCount, renderTable } = await import('./view/table.ts')
  const remaining = conversations - first.length
  const more = remaining > 0 ? [['…', say(`${formatCount(remaining)} more`, `ほか ${formatCount(remaining)} 件`)]] : []
  return renderTable(
    [
      { title: '#', right: true },
      { title: say('conversation', '会話'), grows: true },
    ],
    [...first, ...more],
  )
}

/** Tells conversations from their branches, which follow them in the log. */
export class SessionFamilies {
  conversations = 0
  branches = 0
  #members: SessionId[] = []

  /** The last conversation so far. */
  get current(): SessionId | undefined {
    return this.#members[0]
  }

  /** A header may repeat: then the session is `known`. */
  add({ id, parent }: Session): 'conversation' | 'branch' | 'known' {
    if (this.#members.includes(id)) return 'known'
    if (parent !== undefined && this.#members.includes(parent)) {
      this.#members.push(id)
      this.branches++
      return 'branch'
    }
    this.#members = [id]
    this.conversations++
    return 'conversation'
  }
}

export const noSessionError = (path: string): AppError =>
  new AppError(
    'nothing_readable',
    `${path} contains no conversation. Run fumi normalize to see what is wrong with it.`,
    `${path} に会話がありません。原因は fumi normalize で分かります。`,
  )

/** @param turns how many turns the session has */
export const noSuchTurnError = (turn: number, turns: number): AppError =>
  turns === 0
    ? new AppError('bad_usage', 'The session has no turns.', 'この会話にはターンがありません。')
    : new AppError(
        'bad_usage',
        `There is no turn ${turn}: the session has ${turns === 1 ? '1 turn' : `turns 1 to ${turns}`}.`,
        `ターン ${turn} はありません。この会話のターンは${turns === 1 ? ' 1 だけ' : ` 1〜${turns} `}です。`,
      )

/** Which conversation is meant: by its name, by its file, or by its number in a file. */
import { existsSync } from 'node:fs'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Session } from '../../model/session.ts'
import type { Log } from '../../normalize.ts'
import { incompleteError } from '../incomplete-results.ts'
import { say } from '../language.ts'
import { findLogsAt } from '../logs/find-logs.ts'
import { writeOut } from '../output.ts'
import { findSession } from './find-session.ts'

export interface ChosenSession {
  readonly id: SessionId
  /** The numbers of its branches, which are sessions of their own. */
  readonly branches: readonly number[]
}

/** The session that was asked for by number or id, else the only one that is no branch of another. */
export async function chooseSession(path: string, log: Log, requested: string | undefined): Promise<ChosenSession> {
  const found = new SessionChooser(requested)
  const issues: Issue[] = []
  for await (const batch of log.agent.scan(log.source))
    for (const one of batch) {
      if (one.kind === 'session') found.add(one.session)
      if (one.kind === 'issue' && one.issue.code === 'unreadable') issues.push(one.issue)
    }
  const { chosen, conversations } = found
  if (conversations === 0) throw incompleteError(issues) ?? noSessionError(path)
  if (chosen && (requested !== undefined || conversations === 1)) return chosen
  await writeOut(await renderChoices(found))
  throw new AppError('bad_usage', severalSessionsMessage(path, conversations, requested))
}

function severalSessionsMessage(path: string, conversations: number, requested: string | undefined): Phrase {
  const countText = conversations === 1 ? '1 conversation' : `${conversations} conversations`
  const none = requested === undefined ? '' : `, but none has the number or id ${requested}`
  const noneJa = requested === undefined ? '' : `が、番号または ID が ${requested} のものはありません`
  return phrase(
    `${path} holds ${countText}${none}; choose one with --session and its number or id.`,
    `${path} には会話が ${conversations} 件あります${noneJa}。--session に番号か ID を指定して選んでください。`,
  )
}

/** The first ones, on standard output: no error tells what was said. */
async function renderChoices({ first, conversations }: SessionChooser): Promise<string> {
  const { formatCount, renderTable } = await import('../view/table.ts')
  const rows = first.map(({ number, name }) => [String(number), name])
  const remaining = conversations - first.length
  const more = remaining > 0 ? [['…', say(`${formatCount(remaining)} more`, `ほか ${formatCount(remaining)} 件`)]] : []
  return renderTable(
    [
      { title: '#', right: true },
      { title: say('conversation', '会話'), grows: true },
    ],
    [...rows, ...more],
  )
}

export const noSessionError = (path: string): AppError =>
  new AppError(
    'nothing_readable',
    `${path} holds no conversation. See fumi normalize for what is wrong with it.`,
    `${path} に会話がありません。原因は fumi normalize で分かります。`,
  )

const MAX_LISTED_SESSIONS = 10
/** As much as a line of a terminal may take. */
const MAX_NAME_LENGTH = 200

/** Counts the sessions of a log as they come. Branches follow the conversation that they leave. */
class SessionChooser {
  conversations = 0
  chosen: { readonly id: SessionId; readonly branches: number[] } | undefined
  readonly first: { readonly number: number; readonly name: string }[] = []
  readonly #requested: string | undefined
  #count = 0
  /** The conversation that came last, and its branches. */
  #family: SessionId[] = []

  constructor(requested: string | undefined) {
    this.#requested = requested
  }

  add(session: Session): void {
    const { id, native_id, parent } = session
    if (this.#family.includes(id)) return
    this.#count++
    const isBranch = parent !== undefined && this.#family.includes(parent)
    if (isBranch) {
      if (this.#family[0] === this.chosen?.id) this.chosen?.branches.push(this.#count)
      this.#family.push(id)
    } else {
      this.conversations++
      this.#family = [id]
      if (this.first.length < MAX_LISTED_SESSIONS) this.first.push({ number: this.#count, name: sessionName(session) })
    }
    const isRequested =
      this.#requested === undefined ? !isBranch : [String(this.#count), id, native_id].includes(this.#requested)
    if (isRequested) this.chosen ??= { id, branches: [] }
  }
}

const sessionName = ({ title, first_prompt, id }: Session): string =>
  (title ?? first_prompt ?? id).replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, MAX_NAME_LENGTH)

/** A log and the conversation in it that a command is about. */
export interface ChosenLog extends ChosenSession {
  readonly log: Log
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export interface SessionSelector {
  /** The database, file or folder to look in. */
  readonly in?: string
  /** One of several conversations in a file. */
  readonly session?: string
}

/** By the name of a session, or by its file; `-` for standard input. Throws `not_found` when its log is gone. */
export async function resolveLog(app: App, name: string, options: SessionSelector): Promise<ChosenLog> {
  const { log, ...found } = await resolveSession(app, name, options)
  if (log) return { ...found, log }
  throw new AppError(
    'not_found',
    `the log of ${found.id} is gone, and no copy was kept. fumi show tells what is still known.`,
    `${found.id} のログがなく、写しも保管されていません。残っている情報は fumi show で見られます。`,
  )
}

/** The same; no log when it is gone. */
export async function resolveSession(
  app: App,
  name: string,
  options: SessionSelector,
): Promise<Omit<ChosenLog, 'log'> & { readonly log: Log | undefined }> {
  if (options.in === undefined && (name === '-' || existsSync(name))) {
    const { logs, release } = await findLogsAt([name])
    const log = onlyLog(name, logs)
    return { log, ...(await chooseSession(name, log, options.session)), release }
  }
  const { log, session } = await findSession(app, name, options.in)
  return { log, id: session.id, branches: [], release: async () => {} }
}

function onlyLog(path: string, logs: readonly Log[]): Log {
  const [log, ...others] = logs
  if (!log || log.unknown)
    throw new AppError(
      'nothing_readable',
      `${path} is not a log of an agent that fumibako knows; fumi normalize tells what is in its lines.`,
      `${path} は fumibako の知るエージェントのログではありません。各行の内容は fumi normalize で分かります。`,
    )
  if (others.length === 0) return log
  throw new AppError(
    'bad_usage',
    log.source.key === undefined
      ? phrase(
          `${path} holds ${others.length + 1} logs; give one file, for example ${log.source.path}`,
          `${path} にはログが ${others.length + 1} 件あります。ファイルを 1 つ指定してください。例: ${log.source.path}`,
        )
      : phrase(
          `${path} holds ${others.length + 1} conversations. See fumi list ${path}, then name one of them with --in ${path}`,
          `${path} には会話が ${others.length + 1} 件あります。fumi list ${path} で確かめ、--in ${path} とともに 1 つ指定してください。`,
        ),
  )
}

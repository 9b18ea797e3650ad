/** Which conversation is meant: by its name, by its file, or by its number in a file. */
import { existsSync } from 'node:fs'
import type { House } from '../app.ts'
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Session } from '../model/session.ts'
import type { Log } from '../normalize.ts'
import { mayBeMissing } from './incomplete.ts'
import { say } from './language.ts'
import { logsFor } from './logs/logs.ts'
import { writeOut } from './output.ts'
import { findSession } from './sessions.ts'

export interface Choice {
  readonly id: SessionId
  /** The numbers of its branches, which are sessions of their own. */
  readonly branches: readonly number[]
}

/** The session that was asked for by number or id, else the only one that is no branch of another. */
export async function chooseSession(path: string, log: Log, asked: string | undefined): Promise<Choice> {
  const found = new Sessions(asked)
  const issues: Issue[] = []
  for await (const batch of log.agent.scan(log.source))
    for (const one of batch) {
      if (one.kind === 'session') found.see(one.session)
      if (one.kind === 'issue' && one.issue.code === 'unreadable') issues.push(one.issue)
    }
  const { chosen, conversations } = found
  if (conversations === 0) throw mayBeMissing(issues) ?? nothingIn(path)
  if (chosen && (asked !== undefined || conversations === 1)) return chosen
  await writeOut(await listOf(found))
  throw new AppError('bad_usage', severalIn(path, conversations, asked))
}

function severalIn(path: string, conversations: number, asked: string | undefined): Phrase {
  const many = conversations === 1 ? '1 conversation' : `${conversations} conversations`
  const none = asked === undefined ? '' : `, but none has the number or id ${asked}`
  const noneJa = asked === undefined ? '' : `が、番号または ID が ${asked} のものはありません`
  return phrase(
    `${path} holds ${many}${none}; choose one with --session and its number or id.`,
    `${path} には会話が ${conversations} 件あります${noneJa}。--session に番号か ID を指定して選んでください。`,
  )
}

/** The first ones, on standard output: no error tells what was said. */
async function listOf({ first, conversations }: Sessions): Promise<string> {
  const { count, table } = await import('./view/table.ts')
  const rows = first.map(({ number, name }) => [String(number), name])
  const left = conversations - first.length
  const more = left > 0 ? [['…', say(`${count(left)} more`, `ほか ${count(left)} 件`)]] : []
  return table(
    [
      { title: '#', right: true },
      { title: say('conversation', '会話'), grows: true },
    ],
    [...rows, ...more],
  )
}

export const nothingIn = (path: string): AppError =>
  new AppError(
    'nothing_readable',
    `${path} holds no conversation. See fumi normalize for what is wrong with it.`,
    `${path} に会話がありません。原因は fumi normalize で分かります。`,
  )

const MOST_LISTED = 10
/** As much as a line of a terminal may take. */
const NAME_LENGTH = 200

/** Counts the sessions of a log as they come. Branches follow the conversation that they leave. */
class Sessions {
  conversations = 0
  chosen: { readonly id: SessionId; readonly branches: number[] } | undefined
  readonly first: { readonly number: number; readonly name: string }[] = []
  readonly #asked: string | undefined
  #count = 0
  /** The conversation that came last, and its branches. */
  #family: SessionId[] = []

  constructor(asked: string | undefined) {
    this.#asked = asked
  }

  see(session: Session): void {
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
      if (this.first.length < MOST_LISTED) this.first.push({ number: this.#count, name: nameOf(session) })
    }
    const isMeant = this.#asked === undefined ? !isBranch : [String(this.#count), id, native_id].includes(this.#asked)
    if (isMeant) this.chosen ??= { id, branches: [] }
  }
}

const nameOf = ({ title, first_prompt, id }: Session): string =>
  (title ?? first_prompt ?? id).replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, NAME_LENGTH)

/** A log and the conversation in it that a command is about. */
export interface Found extends Choice {
  readonly log: Log
  /** Removes what was spooled from standard input. */
  release(): Promise<void>
}

export interface Naming {
  /** The database, file or folder to look in. */
  readonly in?: string
  /** One of several conversations in a file. */
  readonly session?: string
}

/** By the name of a session, or by its file; `-` for standard input. Throws `not_found` when its log is gone. */
export async function logNamed(house: House, name: string, options: Naming): Promise<Found> {
  const { log, ...found } = await sessionNamed(house, name, options)
  if (log) return { ...found, log }
  throw new AppError(
    'not_found',
    `the log of ${found.id} is gone, and no copy was kept. fumi show tells what is still known.`,
    `${found.id} のログがなく、写しも保管されていません。残っている情報は fumi show で見られます。`,
  )
}

/** The same; no log when it is gone. */
export async function sessionNamed(
  house: House,
  name: string,
  options: Naming,
): Promise<Omit<Found, 'log'> & { readonly log: Log | undefined }> {
  if (options.in === undefined && (name === '-' || existsSync(name))) {
    const { logs, release } = await logsFor([name])
    const log = onlyOne(name, logs)
    return { log, ...(await chooseSession(name, log, options.session)), release }
  }
  const { log, session } = await findSession(house, name, options.in)
  return { log, id: session.id, branches: [], release: async () => {} }
}

function onlyOne(path: string, logs: readonly Log[]): Log {
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

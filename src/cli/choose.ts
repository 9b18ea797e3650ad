/** Which of the conversations in a file is meant. */
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Session } from '../model/session.ts'
import type { Log } from '../normalize.ts'
import { writeOut } from './output.ts'

export interface Choice {
  readonly id: SessionId
  /** The numbers of its branches, which are sessions of their own. */
  readonly branches: readonly number[]
}

/** The session that was asked for by number or id, else the only one that is no branch of another. */
export async function chooseSession(path: string, log: Log, asked: string | undefined): Promise<Choice> {
  const found = new Sessions(asked)
  for await (const batch of log.agent.scan(log.source))
    for (const one of batch) if (one.kind === 'session') found.see(one.session)
  const { chosen, conversations } = found
  if (conversations === 0) throw nothingIn(path)
  if (chosen && (asked !== undefined || conversations === 1)) return chosen
  await writeOut(await listOf(found))
  const many = conversations === 1 ? '1 conversation' : `${conversations} conversations`
  const none = asked === undefined ? '' : `, but none has the number or id ${asked}`
  throw new AppError('bad_usage', `${path} holds ${many}${none}; choose one with --session and its number or id.`)
}

/** The first ones, on standard output: no error tells what was said. */
async function listOf({ first, conversations }: Sessions): Promise<string> {
  const { count, table } = await import('./view/table.ts')
  const rows = first.map(({ number, name }) => [String(number), name])
  const left = conversations - first.length
  const more = left > 0 ? [['…', `${count(left)} more`]] : []
  return table(
    [
      { title: '#', right: true },
      { title: 'conversation', grows: true },
    ],
    [...rows, ...more],
  )
}

export const nothingIn = (path: string): AppError =>
  new AppError('nothing_readable', `${path} holds no conversation. See fumi normalize for what is wrong with it.`)

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

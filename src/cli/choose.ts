/** Which conversation is meant where a file holds several. */
import { AppError } from '../model/error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Log } from '../normalize.ts'

export interface Choice {
  readonly id: SessionId
  /** The numbers of its branches, which are sessions of their own. */
  readonly branches: readonly number[]
}

/** The session that was asked for by number or id, else the only one that is no branch of another. */
export async function choose(path: string, log: Log, asked: string | undefined): Promise<Choice> {
  const chosen: { id: SessionId; branches: number[] }[] = []
  let last: SessionId | undefined
  let count = 0
  for await (const batch of log.agent.scan(log.source)) {
    for (const one of batch) {
      if (one.kind !== 'session' || one.session.id === last) continue
      const { id, native_id, parent } = one.session
      last = id
      count++
      const origin = chosen.find((other) => other.id === parent)
      origin?.branches.push(count)
      const isMeant = asked === undefined ? !origin : [String(count), id, native_id].includes(asked)
      if (isMeant && chosen.length < 2) chosen.push({ id, branches: [] })
    }
  }
  const [first, another] = chosen
  if (first && !another) return first
  if (count === 0)
    throw new AppError(
      'nothing_readable',
      `${path} holds no conversation. See fumi normalize for what is wrong with it.`,
    )
  const none = asked === undefined ? '' : `, but not just one has the number or id ${asked}`
  const advice = 'choose one by its number or id, for example --session 1'
  throw new AppError('bad_usage', `${path} holds ${count} conversations${none}; ${advice}`)
}

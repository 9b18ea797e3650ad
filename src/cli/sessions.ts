/** The sessions of this machine, or of some files, as a list: newest first, each with what its first lines tell. */
import { guarded } from '../agents/guarded.ts'
import type { House, Kept } from '../app.ts'
import { statOf } from '../lib/files/look.ts'
import { AppError } from '../model/error.ts'
import { type Instant, instantOf, type SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { Session } from '../model/session.ts'
import type { Log } from '../normalize.ts'
import { freshen } from './ask/fresh.ts'
import { mayBeMissing } from './incomplete.ts'

export interface Listing {
  readonly log: Log
  readonly session: Session
  readonly last_at: Instant
  /** Absent where only the beginning was looked at. */
  readonly messages: number | undefined
  /** Set for what is kept and no longer in its store. */
  readonly kept: Kept | undefined
}

export interface Listed {
  readonly sessions: readonly Listing[]
  readonly issues: readonly Issue[]
}

/** Copies of one session come once, the longest. */
export async function listSessions(house: House, paths: readonly string[]): Promise<Listed> {
  const found = new Map<string, Listing>()
  const issues: Issue[] = []
  const add = async (held: Log & { readonly kept?: Kept }): Promise<void> => {
    for (const one of held.unknown ? [] : await look(held, issues)) {
      const known = found.get(one.session.id)
      if (!known || (one.messages ?? 0) > (known.messages ?? 0)) found.set(one.session.id, one)
    }
  }
  for await (const log of house.live(paths)) await add(log)
  for await (const held of house.keeper.alone(new Set(found.keys()), paths)) await add(held)
  const sessions = [...found.values()].sort((a, b) => (a.last_at < b.last_at ? 1 : -1))
  return { sessions, issues }
}

/** How far into a large log is looked for its header and first prompt. */
const FAR_ENOUGH = 2_000_000

/** What follows a header belongs to its session. */
async function look(held: Log & { readonly kept?: Kept }, issues: Issue[]): Promise<readonly Listing[]> {
  const { agent, source } = held
  const seen = new Map<string, { session: Session; messages: number }>()
  let open: { session: Session; messages: number } | undefined
  let isWhole = true
  for await (const batch of guarded(source, agent.scan(source))) {
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
    const isKnown = offset > FAR_ENOUGH || (offset > 0 && open?.session.first_prompt !== undefined)
    isWhole = !(isKnown && seen.size === 1)
    if (!isWhole) break
  }
  const modified = modifiedAt(source.path)
  return Array.from(seen.values(), ({ session, messages }) => ({
    log: held,
    session,
    last_at: session.last_at ?? modified ?? session.started_at,
    messages: isWhole ? messages : undefined,
    kept: held.kept,
  }))
}

function modifiedAt(path: string): Instant | undefined {
  const file = statOf(path)
  return file && instantOf(Math.trunc(file.mtimeMs))
}

/** A session that was asked for. */
export interface Found {
  readonly session: Session
  /** Nothing when its source is gone. */
  readonly log: Log | undefined
  /** Set for what is kept and no longer in its store. */
  readonly kept: Kept | undefined
}

/** By its id, by the agent's own, or by the beginning of either. @param within a database, file or folder to look in */
export async function findSession(house: House, name: string, within?: string): Promise<Found> {
  if (within === undefined && (await freshen(house, 'first'))) {
    const { id } = onlyOne(name, house.named(name), house.index.unreadable())
    const session = house.index.header(id)
    if (session) return { session, log: await house.logOf(id), kept: endedIn(house, id) }
  }
  const { sessions, issues } = await listSessions(house, within === undefined ? [] : [within])
  const { id } = onlyOne(
    name,
    likeIn(
      name,
      sessions.map(({ session }) => session),
    ),
    issues,
  )
  return sessions.find(({ session }) => session.id === id) as Listing
}

/** What the keep knows of a session that is no longer in its store. */
export function endedIn(house: House, id: SessionId): Kept | undefined {
  const kept = house.keep.get(id)
  return kept?.ended_at === undefined ? undefined : kept
}

const SHORTEST = 4

function likeIn(name: string, sessions: readonly Session[]): readonly Session[] {
  const exact = sessions.find(({ id, native_id }) => id === name || native_id === name)
  if (exact) return [exact]
  return sessions.filter(
    ({ id, native_id }) => name.length >= SHORTEST && (id.startsWith(name) || native_id.startsWith(name)),
  )
}

function onlyOne(
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
  const missing = mayBeMissing(issues)
  if (missing) throw missing
  throw new AppError(
    'not_found',
    `there is no session ${name}, and no file of that name. See fumi list.`,
    `${name} という会話もファイルもありません。fumi list で確かめてください。`,
  )
}

/** Tells a page which sessions changed: those that its person may read, and of others not even that they exist. */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { MISSED_EVENTS } from '../../app.ts'
import type { LiveEvent } from '../../model/api/machine.ts'
import type { SessionId } from '../../model/ids.ts'
import { keyToNumber } from '../hash-chain.ts'
import { teamSessionId } from '../protocol.ts'
import { callerOf } from './access.ts'
import type { TeamContext } from './context.ts'
import type { Person } from './people.ts'
import { parseChange, type SessionChange } from './sharing.ts'

const HEARTBEAT_MS = 15_000
const MAX_MISSED = 1000
/** While much changes, a page asks the database this often, about all of it at once. */
const GATHER_MS = 250

export function streamChanges(context: TeamContext, c: Context): Response {
  const caller = callerOf(c)
  const { person } = caller
  const ended = new AbortController()
  const { signal } = c.req.raw
  if (signal.aborted) ended.abort()
  else signal.addEventListener('abort', () => ended.abort(), { once: true })
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(() => ended.abort())
    const { epoch, revision: latest } = await context.index(person)
    let revision = latest
    const send = (event: LiveEvent): Promise<void> => {
      if ('revision' in event) revision = Math.max(revision, event.revision)
      return stream.writeSSE({ event: event.kind, data: JSON.stringify(event), id: `${epoch}-${revision}` })
    }
    const events = context.changes.subscribe({ signal: ended.signal, pause: GATHER_MS, limit: MAX_MISSED })
    try {
      const next = events.next()
      const since = /^(.+)-(\d{1,15})$/.exec(c.req.header('last-event-id') ?? c.req.query('since') ?? '')
      const missed = since?.[1] === epoch ? await readMissed(context, person, Number(since?.[2])) : undefined
      await send({ kind: 'hello', epoch, revision, reset: missed === undefined || missed.length > MAX_MISSED })
      for (const one of missed && missed.length <= MAX_MISSED ? missed : []) await send(one)
      const gathered = new Map<string, SessionChange>()
      let last = performance.now()
      for (let one = await next; !one.done && !stream.aborted; one = await events.next()) {
        const { value } = one
        const isLost = value === MISSED_EVENTS || value?.kind === 'hello'
        if (isLost) gathered.clear()
        else if (value?.kind === 'change' || value?.kind === 'removed')
          gathered.set(value.session, parseChange(value.session))
        const waited = performance.now() - last
        const isDue = gathered.size > 0 ? value === undefined || waited > GATHER_MS : waited > HEARTBEAT_MS
        if (!isLost && !isDue) continue
        // Signed out, revoked or left meanwhile.
        if (!(await caller.isStillMember())) break
        if (isLost) await send({ kind: 'hello', epoch, revision, reset: true })
        else if (gathered.size === 0) await stream.write(': still here\n\n')
        else for (const event of await toVisibleEvents(context, person, [...gathered.values()])) await send(event)
        gathered.clear()
        last = performance.now()
      }
    } finally {
      ended.abort()
      await events.return(undefined)
    }
  })
  response.headers.set('cache-control', 'no-store, no-transform')
  response.headers.set('x-accel-buffering', 'no')
  return response
}

async function readMissed(context: TeamContext, person: Person, since: number): Promise<readonly LiveEvent[]> {
  const rows = await context.database.asPerson(person.id, (db) =>
    db.rows<{ key: string; revision: number }>(
      `SELECT lpad(to_hex(session_key), 16, '0') AS key, revision FROM session
       WHERE revision > $1 AND is_complete AND shared <> 'usage' ORDER BY revision LIMIT ${MAX_MISSED + 1}`,
      [since],
    ),
  )
  return rows.map(({ key, revision }) => ({ kind: 'change', session: sessionIdOf(key), revision }))
}

async function toVisibleEvents(
  context: TeamContext,
  person: Person,
  changes: readonly SessionChange[],
): Promise<readonly LiveEvent[]> {
  const { readable, audiences } = await context.database.asPerson(person.id, async (db) => ({
    readable: await db.rows<{ key: string; revision: number }>(
      `SELECT lpad(to_hex(session_key), 16, '0') AS key, revision FROM session
       WHERE session_key = ANY ($1::bigint[]) AND shared <> 'usage' ORDER BY revision`,
      [changes.map(({ key }) => keyToNumber(key))],
    ),
    audiences: (await db.first<{ mine: readonly number[] }>('SELECT my_audiences() AS mine'))?.mine ?? [],
  }))
  const there = new Set(readable.map(({ key }) => key))
  const changed = new Set(changes.flatMap(({ key, before }) => (before === undefined ? key : [])))
  const gone = changes.flatMap(({ key, before }) =>
    before !== undefined && audiences.includes(before) && !there.has(key) ? key : [],
  )
  return [
    ...Array.from(new Set(gone), (key): LiveEvent => ({ kind: 'removed', session: sessionIdOf(key), revision: 0 })),
    ...readable.flatMap(({ key, revision }): LiveEvent | [] =>
      changed.has(key) ? { kind: 'change', session: sessionIdOf(key), revision } : [],
    ),
  ]
}

const sessionIdOf = (key: string): SessionId => teamSessionId(key) as SessionId

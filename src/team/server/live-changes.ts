/** Tells a page which sessions changed: those that its person may read, and of others not even that they exist. */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { MISSED_EVENTS } from '../../app.ts'
import type { LiveEvent } from '../../model/api/machine.ts'
import { teamSessionId } from '../protocol.ts'
import { callerOf } from './access.ts'
import type { TeamContext } from './context.ts'
import { readSessions } from './list-sessions.ts'
import type { Person } from './people.ts'

const HEARTBEAT_MS = 15_000
const MAX_MISSED = 1000

export function streamChanges(context: TeamContext, c: Context): Response {
  const { person } = callerOf(c)
  const ended = new AbortController()
  const { signal } = c.req.raw
  if (signal.aborted) ended.abort()
  else signal.addEventListener('abort', () => ended.abort(), { once: true })
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(() => ended.abort())
    const { epoch } = await context.index(person)
    let { revision } = await context.index(person)
    const send = (event: LiveEvent): Promise<void> => {
      if ('revision' in event) revision = Math.max(revision, event.revision)
      return stream.writeSSE({ event: event.kind, data: JSON.stringify(event), id: `${epoch}-${revision}` })
    }
    const events = context.changes.subscribe({ signal: ended.signal, pause: HEARTBEAT_MS, limit: MAX_MISSED })
    try {
      const next = events.next()
      const since = /^(.+)-(\d{1,15})$/.exec(c.req.header('last-event-id') ?? c.req.query('since') ?? '')
      const missed = since?.[1] === epoch ? await readMissed(context, person, Number(since?.[2])) : undefined
      await send({ kind: 'hello', epoch, revision, reset: missed === undefined || missed.length > MAX_MISSED })
      for (const one of missed && missed.length <= MAX_MISSED ? missed : []) await send(one)
      for (let one = await next; !one.done && !stream.aborted; one = await events.next()) {
        if (one.value === undefined) {
          await stream.write(': still here\n\n')
          continue
        }
        if (one.value === MISSED_EVENTS || one.value.kind === 'hello')
          await send({ kind: 'hello', epoch, revision, reset: true })
        else if (one.value.kind === 'change') {
          const event = await toVisibleChange(context, person, one.value.session)
          if (event) await send(event)
        }
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
  return rows.map(({ key, revision }) => ({ kind: 'change', session: teamSessionId(key) as never, revision }))
}

async function toVisibleChange(context: TeamContext, person: Person, key: string): Promise<LiveEvent | undefined> {
  const [row] = await context.database.asPerson(person.id, (db) => readSessions(db, [key]))
  if (row)
    return row.shared === 'usage'
      ? undefined
      : { kind: 'change', session: teamSessionId(key) as never, revision: row.revision }
  const isThere = await context.database.asServer((db) =>
    db.first('SELECT 1 FROM session WHERE session_key = $1', [BigInt(`0x${key}`).toString()]),
  )
  // Its id is a hash that tells nothing; pages that show it remove it.
  return isThere ? undefined : { kind: 'removed', session: teamSessionId(key) as never, revision: 0 }
}

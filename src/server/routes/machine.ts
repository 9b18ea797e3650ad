/** The machine and what goes on: health, agents, choices, sync, live changes. */

import { existsSync } from 'node:fs'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { allAgents } from '../../agents/all.ts'
import { idsOf } from '../../agents/roots.ts'
import type { AgentItem, Choice, LiveEvent } from '../../model/api/machine.ts'
import { phrase } from '../../model/phrase.ts'
import { incompleteNote } from '../../model/told/incomplete.ts'
import type { HouseView } from '../house-view.ts'
import { eventOf, MISSED } from '../live/hub.ts'
import { serve } from '../openapi/endpoint.ts'
import { text } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'

export function machineRoutes(app: OpenAPIHono, view: HouseView): void {
  const { house, hub, attendant } = view
  serve(
    app,
    {
      method: 'get',
      path: '/api/health',
      summary: 'Is the server there?',
      description: 'Needs no token, and then tells no more than its status.',
      reply: 'HealthReply',
    },
    ({ c }) => {
      if (c.get('stranger') === true) return { data: { status: 'ok' }, meta: {} }
      const problem = attendant.problem ?? incompleteNote(house.index.unreadable())
      const data = {
        status: 'ok' as const,
        version: view.version,
        index: view.index(),
        watching: attendant.watching,
        live_clients: hub.clients,
        problem: problem?.en ?? null,
        problem_ja: problem?.ja ?? null,
      }
      return { data, meta: {} }
    },
  )
  serve(
    app,
    { method: 'get', path: '/api/agents', summary: 'Agents, and where they keep their logs', reply: 'AgentsReply' },
    async () => ({ data: await agentItems(view), meta: {} }),
  )
  serve(
    app,
    { method: 'get', path: '/api/choices', summary: 'What lists can be narrowed down to', reply: 'ChoicesReply' },
    () => {
      const tags = new Map<string, number>()
      for (const mark of house.marks.list()) for (const tag of mark.tags) tags.set(tag, (tags.get(tag) ?? 0) + 1)
      const byUse: readonly Choice[] = Array.from(tags, ([value, count]) => ({ value, count })).sort(
        (a, b) => b.count - a.count || (a.value < b.value ? -1 : 1),
      )
      return { data: { ...house.index.choices(), tags: byUse }, meta: {} }
    },
  )
  serve(app, { method: 'get', path: '/api/sync', summary: 'How far the index is', reply: 'SyncReply' }, () => ({
    data: attendant.state,
    meta: {},
  }))
  serve(
    app,
    {
      method: 'post',
      path: '/api/sync',
      summary: 'Look at everything now',
      reply: 'SyncReply',
      status: 202,
      errors: ['sync_in_progress'],
    },
    () => {
      if (!attendant.sync())
        throw new ApiProblem(
          'sync_in_progress',
          phrase('See GET /api/sync for how far it is.', '同期の実行中です。進み具合は GET /api/sync で分かります。'),
        )
      return { data: attendant.state, meta: {} }
    },
  )
  liveRoute(app, view)
}

/** Comments that keep the line open, and find out who is gone. */
const HEARTBEAT = 15_000
const MOST_MISSED = 1000

function liveRoute(app: OpenAPIHono, { house, hub, attendant }: HouseView): void {
  serve(
    app,
    {
      method: 'get',
      path: '/api/live',
      summary: 'Changes as they happen, as server-sent events',
      description:
        'Each event has the id epoch-revision. A client that comes back with it as Last-Event-ID, or since, is told what it missed. One that reads too slowly is sent another hello with reset and must load everything again; one that reads nothing for 30 seconds is disconnected.',
      query: z.object({ since: text('As Last-Event-ID, for clients that cannot send it.') }),
      reply: 'text/event-stream',
    },
    ({ c, query, signal }) => {
      const gone = new AbortController()
      if (signal.aborted) gone.abort()
      else signal.addEventListener('abort', () => gone.abort(), { once: true })
      const response = streamSSE(c, async (stream) => {
        stream.onAbort(() => gone.abort())
        const epoch = house.index.epoch ?? null
        let revision = house.index.revision
        const send = (event: LiveEvent): Promise<void> => {
          if ('revision' in event) revision = Math.max(revision, event.revision)
          return stream.writeSSE({
            event: event.kind,
            data: JSON.stringify(event),
            id: `${epoch ?? 'none'}-${revision}`,
          })
        }
        // Listening begins before the past is told: nothing falls between them.
        const events = hub.events(gone.signal, HEARTBEAT)
        try {
          const next = events.next()
          const missed = missedSince(c.req.header('last-event-id') ?? query.since, epoch, revision)
          const changes = missed === undefined ? undefined : house.changesSince(missed, MOST_MISSED + 1)
          const isReset = changes === undefined || changes.length > MOST_MISSED
          await send({ kind: 'hello', epoch, revision, reset: isReset })
          if (!isReset) for (const change of changes) await send(eventOf(change))
          if (attendant.state.status === 'running') await send({ kind: 'sync', state: attendant.state })
          for (let one = await next; !one.done && !stream.aborted; one = await events.next()) {
            if (one.value === MISSED) await send({ kind: 'hello', epoch, revision: house.index.revision, reset: true })
            else if (one.value) await send(one.value)
            else await stream.write(': still here\n\n')
          }
        } finally {
          gone.abort()
          await events.return(undefined)
        }
      })
      response.headers.set('cache-control', 'no-store, no-transform')
      response.headers.set('x-accel-buffering', 'no')
      return response
    },
  )
}

/** The revision from which on a client must be told; nothing where it must begin anew. A client that names none knows nothing. */
function missedSince(id: string | undefined, epoch: string | null, revision: number): number | undefined {
  const match = /^(.+)-(\d{1,15})$/.exec(id ?? '')
  if (!match || match[1] !== (epoch ?? 'none') || Number(match[2]) > revision) return undefined
  return Number(match[2])
}

async function agentItems({ house }: HouseView): Promise<readonly AgentItem[]> {
  const roots = await house.roots()
  const sessions = new Map(house.index.choices().agents.map(({ value, count }) => [value, count]))
  const bytes = new Map(house.stats()?.disk.map((one) => [one.agent, one.bytes]))
  const sum = (ids: readonly string[], of: ReadonlyMap<string, number>): number =>
    ids.reduce((all, id) => all + (of.get(id) ?? 0), 0)
  return (await allAgents()).map((agent) => ({
    id: agent.id,
    label: agent.label,
    roots: roots.filter((root) => root.agent.id === agent.id).map(({ path }) => ({ path, exists: existsSync(path) })),
    sessions: sum(idsOf(agent), sessions),
    bytes: sum(idsOf(agent), bytes),
    volatile: agent.volatile !== undefined,
    can_resume: agent.resume !== undefined,
    writes: (agent.write ? (agent.forms ?? []) : []).map(({ name, label }) => ({ form: name, label })),
  }))
}

/** Health, agents, filter choices, sync and live changes. */

import { existsSync } from 'node:fs'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { agentIdsOf } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import { MISSED_EVENTS } from '../../app.ts'
import type { AgentItem, BackupItem, Choice, LiveEvent } from '../../model/api/machine.ts'
import { describeIssue, incompleteReasonOf } from '../../model/code-texts.ts'
import type { Issue } from '../../model/issue.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, textParameter } from '../openapi/endpoint.ts'

export function machineRoutes(api: OpenAPIHono, context: ServerContext): void {
  const { app, indexWatcher } = context
  addEndpoint(api, {
    method: 'get',
    path: '/api/health',
    summary: 'Check the health of the server',
    description: 'Needs no token. Without one, the reply contains only status.',
    reply: 'HealthReply',
    answer: ({ c }) => {
      if (c.get('stranger') === true) return { data: { status: 'ok' }, meta: {} }
      const problem = indexWatcher.problem ?? describeIncomplete(app.index.unreadable())
      const data = {
        status: 'ok' as const,
        version: context.version,
        index: context.index(),
        watching: indexWatcher.watching,
        live_clients: app.events.subscribers,
        problem: problem?.en ?? null,
        problem_ja: problem?.ja ?? null,
      }
      return { data, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/agents',
    summary: 'List agents and their folders',
    reply: 'AgentsReply',
    answer: async () => ({ data: await listAgents(context), meta: {} }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/backup',
    summary: 'Show what is backed up',
    reply: 'BackupReply',
    answer: async () => ({ data: await readBackupStatus(context), meta: {} }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/choices',
    summary: 'List values for filters',
    reply: 'ChoicesReply',
    answer: () => {
      const tags = new Map<string, number>()
      for (const mark of app.annotations.list()) for (const tag of mark.tags) tags.set(tag, (tags.get(tag) ?? 0) + 1)
      const byUse: readonly Choice[] = Array.from(tags, ([value, count]) => ({ value, count })).sort(
        (a, b) => b.count - a.count || (a.value < b.value ? -1 : 1),
      )
      return { data: { ...app.index.choices(), tags: byUse }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sync',
    summary: 'Get the progress of the sync',
    reply: 'SyncReply',
    answer: () => ({
      data: indexWatcher.state,
      meta: {},
    }),
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/sync',
    summary: 'Start a sync',
    reply: 'SyncReply',
    status: 202,
    errors: ['sync_in_progress'],
    answer: () => {
      if (!indexWatcher.sync())
        throw new ApiProblem(
          'sync_in_progress',
          phrase(
            'A sync is already running. GET /api/sync shows its progress.',
            '同期の実行中です。進み具合は GET /api/sync で分かります。',
          ),
        )
      return { data: indexWatcher.state, meta: {} }
    },
  })
  addLiveRoute(api, context)
}

async function readBackupStatus({ app }: ServerContext): Promise<BackupItem> {
  const { path, bytes, limit_bytes, without_backup, agents } = await app.backups.status()
  return {
    path,
    bytes,
    limit_bytes: limit_bytes ?? null,
    without_backup,
    agents: agents.map((one) => ({
      agent: one.agent,
      label: one.label,
      kept: one.kept,
      reason: one.reason.en,
      reason_ja: one.reason.ja,
      items: one.items,
      bytes: one.bytes,
      stored_bytes: one.stored_bytes,
      since: one.since ?? null,
      only_here: one.only_here,
    })),
  }
}

/** Comments keep the connection open and detect clients that are gone. */
const HEARTBEAT_MS = 15_000
const MAX_MISSED_CHANGES = 1000

function addLiveRoute(api: OpenAPIHono, { app, indexWatcher }: ServerContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/live',
    summary: 'Stream changes',
    description:
      'Server-sent events with the id epoch-revision. A client that reconnects with it as Last-Event-ID or since receives the changes that it missed. A client that reads too slowly receives a hello with reset and must load everything again. A client that reads nothing for 30 seconds is disconnected.',
    query: z.object({ since: textParameter('Replaces the header Last-Event-ID for clients that cannot send it.') }),
    reply: 'text/event-stream',
    answer: ({ c, query, signal }) => {
      const disconnected = new AbortController()
      if (signal.aborted) disconnected.abort()
      else signal.addEventListener('abort', () => disconnected.abort(), { once: true })
      const response = streamSSE(c, async (stream) => {
        stream.onAbort(() => disconnected.abort())
        const epoch = app.index.epoch ?? null
        let revision = app.index.revision
        const send = (event: LiveEvent): Promise<void> => {
          if ('revision' in event) revision = Math.max(revision, event.revision)
          return stream.writeSSE({
            event: event.kind,
            data: JSON.stringify(event),
            id: `${epoch ?? 'none'}-${revision}`,
          })
        }
        // Subscribed before the missed changes are read: no event is lost.
        const { signal } = disconnected
        const events = app.events.subscribe({ signal, pause: HEARTBEAT_MS, limit: MAX_MISSED_CHANGES })
        try {
          const next = events.next()
          const missed = parseMissedSince(c.req.header('last-event-id') ?? query.since, epoch, revision)
          const changes = missed === undefined ? undefined : app.changesSince(missed, MAX_MISSED_CHANGES + 1)
          const isReset = changes === undefined || changes.length > MAX_MISSED_CHANGES
          await send({ kind: 'hello', epoch, revision, reset: isReset })
          if (!isReset) for (const change of changes) await send(change)
          if (indexWatcher.state.status === 'running') await send({ kind: 'sync', state: indexWatcher.state })
          for (let one = await next; !one.done && !stream.aborted; one = await events.next()) {
            if (one.value === MISSED_EVENTS)
              await send({ kind: 'hello', epoch, revision: app.index.revision, reset: true })
            else if (one.value) await send(one.value)
            else await stream.write(': still here\n\n')
          }
        } finally {
          disconnected.abort()
          await events.return(undefined)
        }
      })
      response.headers.set('cache-control', 'no-store, no-transform')
      response.headers.set('x-accel-buffering', 'no')
      return response
    },
  })
}

/** The revision that a client has; undefined if it must load everything again. */
function parseMissedSince(id: string | undefined, epoch: string | null, revision: number): number | undefined {
  const match = /^(.+)-(\d{1,15})$/.exec(id ?? '')
  if (!match || match[1] !== (epoch ?? 'none') || Number(match[2]) > revision) return undefined
  return Number(match[2])
}

async function listAgents({ app }: ServerContext): Promise<readonly AgentItem[]> {
  const roots = await app.roots()
  const sessions = new Map(app.index.choices().agents.map(({ value, count }) => [value, count]))
  const bytes = new Map(app.stats()?.disk.map((one) => [one.agent, one.bytes]))
  const sum = (ids: readonly string[], of: ReadonlyMap<string, number>): number =>
    ids.reduce((all, id) => all + (of.get(id) ?? 0), 0)
  return (await allAgents()).map((agent) => ({
    id: agent.id,
    label: agent.label,
    roots: roots.filter((root) => root.agent.id === agent.id).map(({ path }) => ({ path, exists: existsSync(path) })),
    sessions: sum(agentIdsOf(agent), sessions),
    bytes: sum(agentIdsOf(agent), bytes),
    volatile: agent.volatile !== undefined,
    can_resume: agent.resume !== undefined,
    writes: (agent.write ? (agent.forms ?? []) : []).map(({ name, label }) => ({ form: name, label })),
  }))
}

/** Undefined unless a source is locked or may not be read: other issues are permanent. */
function describeIncomplete(issues: readonly Issue[]): Phrase | undefined {
  const [first, ...others] = issues.filter((issue) => incompleteReasonOf(issue) !== undefined)
  if (!first) return undefined
  const { en, ja } = describeIssue(first)
  const [more, moreJa] =
    others.length === 0 ? ['', ''] : [` (and ${others.length} more)`, `（ほか ${others.length} 件）`]
  return phrase(`The data is incomplete: ${en}${more}`, `表示は完全ではありません: ${ja}${moreJa}`)
}

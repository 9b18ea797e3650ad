/** A complete session: turns, shape, totals, search, state. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { App, SessionEntry } from '../../app.ts'
import { withYields } from '../../lib/yield-loop.ts'
import type { FileChangeItem } from '../../model/api/changes.ts'
import type { SessionTotals, TurnTotals } from '../../model/api/totals.ts'
import type { TurnItem, TurnsMeta } from '../../model/api/turn.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { cacheShareOf } from '../../model/usage.ts'
import { ApiProblem, toQueryProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, flagParameter } from '../openapi/endpoint.ts'
import { type Layout, MAX_WAITED_BYTES, type PromptCache } from '../session-caches.ts'
import { FileChangeCollector } from '../view/file-changes.ts'
import { readState } from '../view/session-item.ts'
import type { SessionTally } from '../view/session-tally.ts'
import { buildStateItem } from '../view/state-item.ts'

export function turnRoutes(api: OpenAPIHono, context: ServerContext): void {
  const { app } = context
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/turns',
    summary: 'List the turns of a session',
    query: z.object({ wait: flagParameter('Waits until tokens and rollbacks are known, even for a long log.') }),
    reply: 'TurnsReply',
    errors: ['session_not_found'],
    answer: async ({ param, query }) => {
      const entry = context.session(param('id'))
      const isQuick = query.wait === true || entry.size <= MAX_WAITED_BYTES
      const tallyPromise = context.tallies.of(entry).catch(() => undefined)
      const tally = isQuick ? await tallyPromise : context.tallies.known(entry)
      const layout = context.layouts.of(entry)
      const data: readonly TurnItem[] = await buildTurnItems(context.prompts, entry, layout, tally)
      const meta: TurnsMeta = {
        revision: entry.revision,
        total_messages: layout.total,
        complete: tally !== undefined || entry.gone,
      }
      return { data, meta }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/shape',
    summary: 'Get one letter per message',
    reply: 'ShapeReply',
    errors: ['session_not_found'],
    answer: ({ param }) => {
      const entry = context.session(param('id'))
      const { total, shape } = context.layouts.of(entry)
      return { data: { revision: entry.revision, total, shape }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/totals',
    summary: 'Get totals of a session',
    description: 'The first request reads the complete log; later ones read only what was added.',
    reply: 'SessionTotalsReply',
    errors: ['session_not_found', 'source_gone'],
    answer: async ({ param }) => {
      const entry = context.session(param('id'))
      return { data: toSessionTotals(app, entry, await context.tallies.of(entry)), meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/changes',
    summary: 'List changed files with the sum of all edits',
    description: 'What successful tool calls changed in each file, as far as the calls say it. Reads the complete log.',
    reply: 'ChangesReply',
    errors: ['session_not_found', 'source_gone'],
    answer: async ({ param }) => {
      const entry = context.session(param('id'))
      return { data: await readFileChanges(app, entry), meta: { revision: entry.revision } }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/find',
    summary: 'Find messages in a session',
    query: z.object({ q: z.string().min(1).max(2000).openapi({ description: 'Search query.' }) }),
    reply: 'FindReply',
    errors: ['session_not_found', 'invalid_query'],
    answer: async ({ param, query }) => {
      const entry = context.session(param('id'))
      const found = await (await app.searchService()).findMatches(entry.id, query.q)
      if (found.kind === 'problem') throw toQueryProblem(found)
      const meta = { revision: entry.revision, total: found.spots.length, complete: found.complete }
      return { data: found.spots, meta }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/state',
    summary: 'Get the state of the agent: model, context, tools, tangent, checkpoints',
    reply: 'StateReply',
    errors: ['session_not_found', 'not_possible'],
    answer: async ({ param }) => {
      const entry = context.session(param('id'))
      const state = await readState(app, entry)
      if (!state)
        throw new ApiProblem(
          'not_possible',
          phrase(
            `The log of ${entry.id} records no agent state.`,
            `会話 ${entry.id} のログには、エージェントの状態が記録されていません。`,
          ),
        )
      return { data: await buildStateItem(app, entry, state), meta: {} }
    },
  })
}

/** More points than pixels of a chart. */
const MAX_CONTEXT_POINTS = 600

function toSessionTotals(app: App, { id, revision }: SessionEntry, tally: SessionTally): SessionTotals {
  const { usage, cost, byModel, rateLimits, events, tools, files, roles, encrypted, images } = tally.counts
  return {
    revision,
    usage,
    cost,
    cache_share: cacheShareOf(usage),
    by_model: Array.from(byModel, ([model, sum]) => ({ model, ...sum })),
    turns: tally.turns(),
    context: tally.context(MAX_CONTEXT_POINTS),
    context_window: tally.counts.contextWindow ?? null,
    rate_limits: [...rateLimits.values()],
    events: [...events.values()].sort((a, b) => b.count - a.count || (a.event_kind < b.event_kind ? -1 : 1)),
    tools: [...tools.values()].sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)),
    files: Array.from(files, ([path, { how, calls, last }]) => ({
      path,
      how: [...how],
      calls,
      last_message_id: last,
    })).sort((a, b) => b.calls - a.calls || (a.path < b.path ? -1 : 1)),
    roles,
    encrypted,
    images,
    pattern: app.histories({ ids: [id], kind: 'any' })[0]?.pattern ?? null,
  }
}

async function readFileChanges(app: App, { id, path }: SessionEntry): Promise<readonly FileChangeItem[]> {
  const log = await app.logOf(id)
  if (!log)
    throw new AppError(
      'not_found',
      `The log of ${id} is gone: ${path}. No backup exists.`,
      `会話 ${id} のログ ${path} がなくなっています。バックアップもありません。`,
    )
  const collector = new FileChangeCollector(app.index.header(id)?.cwd)
  for await (const batch of withYields(log.agent.read(log.source)))
    for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) collector.add(one.message)
  return collector.files()
}

/** Later prompts have only a number. */
const MAX_PROMPTS_READ = 2000

/** @param tally undefined until the log was read to its end */
async function buildTurnItems(
  prompts: PromptCache,
  entry: SessionEntry,
  { turns }: Layout,
  tally: SessionTally | undefined,
): Promise<readonly TurnItem[]> {
  const counted = tally?.turns() ?? []
  const facts = tally?.facts()
  if (turns.length === 0) return counted.map((turn) => toEventTurnItem(turn))
  const byMessage = new Map(counted.map((turn) => [turn.message_id, turn]))
  const read = turns.slice(0, MAX_PROMPTS_READ).map(({ message }) => message)
  const summaries = await prompts.of(entry, read)
  return turns.map(({ message, offset, messages, started_at, ended_at, tools, errors }, at) => {
    const known = byMessage.get(message)
    const summary = summaries.get(message)
    return {
      number: at + 1,
      prompt: known?.prompt ?? summary?.text ?? null,
      message_id: message,
      offset,
      message_count: messages,
      started_at,
      ended_at,
      tool_count: tools,
      error_count: errors,
      usage: known?.usage ?? null,
      cost: known?.cost ?? null,
      rolled_back: facts ? facts.isRolledBack({ id: message }) : null,
      tangent: summary?.tangent === true,
    }
  })
}

const endOf = ({ started_at, duration_ms }: TurnTotals): string | null =>
  started_at === null || duration_ms === null ? null : new Date(Date.parse(started_at) + duration_ms).toISOString()

/** For a log that was trimmed to its events: the index knows no offsets of its turns. */
const toEventTurnItem = (turn: ReturnType<SessionTally['turns']>[number]): TurnItem => ({
  number: turn.number,
  prompt: turn.prompt,
  message_id: turn.message_id,
  offset: 0,
  message_count: 0,
  started_at: turn.started_at,
  ended_at: endOf(turn),
  tool_count: turn.tools,
  error_count: turn.errors,
  usage: turn.usage,
  cost: turn.cost,
  rolled_back: turn.rolled_back,
  tangent: false,
})

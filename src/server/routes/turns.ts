/** A session as a whole: turns, shape, totals, find, state. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { TurnItem, TurnsMeta } from '../../model/api/turn.ts'
import { phrase } from '../../model/phrase.ts'
import type { ServerContext } from '../house-view.ts'
import { addEndpoint } from '../openapi/endpoint.ts'
import { flagParameter } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { toQueryProblem } from '../view/misunderstood.ts'
import { MAX_WAITED_BYTES } from '../view/session/outlines.ts'
import { readStateMetadata } from '../view/session/session-detail.ts'
import { toSessionTotals } from '../view/session/session-totals.ts'
import { buildStateItem } from '../view/session/state-item.ts'
import { buildTurnItems } from '../view/session/turn-items.ts'

export function turnRoutes(api: OpenAPIHono, context: ServerContext): void {
  const { app } = context
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/turns',
      summary: 'The turns of a session: its outline',
      query: z.object({ wait: flagParameter('Waits until tokens and roll-backs are known, however long the log is.') }),
      reply: 'TurnsReply',
      errors: ['session_not_found'],
    },
    async ({ param, query }) => {
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
  )
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/shape',
      summary: 'One letter for each message',
      reply: 'ShapeReply',
      errors: ['session_not_found'],
    },
    ({ param }) => {
      const entry = context.session(param('id'))
      const { total, shape } = context.layouts.of(entry)
      return { data: { revision: entry.revision, total, shape }, meta: {} }
    },
  )
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/totals',
      summary: 'What a session adds up to',
      description: 'Reads the whole log; again only what was added to it.',
      reply: 'SessionTotalsReply',
      errors: ['session_not_found', 'source_gone'],
    },
    async ({ param }) => {
      const entry = context.session(param('id'))
      return { data: toSessionTotals(app, entry, await context.tallies.of(entry)), meta: {} }
    },
  )
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/find',
      summary: 'Every message of a session that says it, in order',
      query: z.object({ q: z.string().min(1).max(2000).openapi({ description: 'As in a search.' }) }),
      reply: 'FindReply',
      errors: ['session_not_found', 'invalid_query'],
    },
    async ({ param, query }) => {
      const entry = context.session(param('id'))
      const found = await (await app.contentReader()).findMatchesInSession(entry.id, query.q)
      if (found.kind === 'problem') throw toQueryProblem(found)
      const meta = { revision: entry.revision, total: found.spots.length, complete: found.complete }
      return { data: found.spots, meta }
    },
  )
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/state',
      summary: 'What the agent knew: model, context, tools, tangent, checkpoints',
      reply: 'StateReply',
      errors: ['session_not_found', 'not_possible'],
    },
    async ({ param }) => {
      const entry = context.session(param('id'))
      const state = await readStateMetadata(app, entry)
      if (!state)
        throw new ApiProblem(
          'not_possible',
          phrase(
            `${entry.id} has no state beside its messages.`,
            `会話 ${entry.id} には、メッセージ以外の状態がありません。`,
          ),
        )
      return { data: await buildStateItem(app, entry, state), meta: {} }
    },
  )
}

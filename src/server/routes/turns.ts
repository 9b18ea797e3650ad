/** A session as a whole: turns, shape, totals, find, state. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { TurnItem, TurnsMeta } from '../../model/api/turn.ts'
import { phrase } from '../../model/phrase.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { flag } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { misunderstood } from '../view/misunderstood.ts'
import { SMALL } from '../view/session/outlines.ts'
import { stateOf } from '../view/session/session-detail.ts'
import { sessionTotals } from '../view/session/session-totals.ts'
import { stateItem } from '../view/session/state-item.ts'
import { turnItems } from '../view/session/turn-items.ts'

export function turnRoutes(app: OpenAPIHono, view: HouseView): void {
  const { house } = view
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/turns',
      summary: 'The turns of a session: its outline',
      query: z.object({ wait: flag('Waits until tokens and roll-backs are known, however long the log is.') }),
      reply: 'TurnsReply',
      errors: ['session_not_found'],
    },
    async ({ param, query }) => {
      const entry = view.session(param('id'))
      const isQuick = query.wait === true || entry.size <= SMALL
      const reading = view.outlines.of(entry).catch(() => undefined)
      const tally = isQuick ? await reading : view.outlines.known(entry)
      const layout = view.layouts.of(entry)
      const data: readonly TurnItem[] = await turnItems(view.prompts, entry, layout, tally)
      const meta: TurnsMeta = {
        revision: entry.revision,
        total_messages: layout.total,
        complete: tally !== undefined || entry.gone,
      }
      return { data, meta }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/shape',
      summary: 'One letter for each message',
      reply: 'ShapeReply',
      errors: ['session_not_found'],
    },
    ({ param }) => {
      const entry = view.session(param('id'))
      const { total, shape } = view.layouts.of(entry)
      return { data: { revision: entry.revision, total, shape }, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/totals',
      summary: 'What a session adds up to',
      description: 'Reads the whole log; again only what was added to it.',
      reply: 'SessionTotalsReply',
      errors: ['session_not_found', 'source_gone'],
    },
    async ({ param }) => {
      const entry = view.session(param('id'))
      return { data: sessionTotals(house, entry, await view.outlines.of(entry)), meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/find',
      summary: 'Every message of a session that says it, in order',
      query: z.object({ q: z.string().min(1).max(2000).openapi({ description: 'As in a search.' }) }),
      reply: 'FindReply',
      errors: ['session_not_found', 'invalid_query'],
    },
    async ({ param, query }) => {
      const entry = view.session(param('id'))
      const found = await (await house.reading()).spots(entry.id, query.q)
      if (found.kind === 'problem') throw misunderstood(found)
      const meta = { revision: entry.revision, total: found.spots.length, complete: found.complete }
      return { data: found.spots, meta }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/state',
      summary: 'What the agent knew: model, context, tools, tangent, checkpoints',
      reply: 'StateReply',
      errors: ['session_not_found', 'not_possible'],
    },
    async ({ param }) => {
      const entry = view.session(param('id'))
      const state = await stateOf(house, entry)
      if (!state)
        throw new ApiProblem(
          'not_possible',
          phrase(
            `${entry.id} has no state beside its messages.`,
            `会話 ${entry.id} には、メッセージ以外の状態がありません。`,
          ),
        )
      return { data: await stateItem(house, entry, state), meta: {} }
    },
  )
}

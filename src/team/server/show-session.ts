/** `/api/sessions/{id}`: a session of the team, shown by the program that shows local logs. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { agentIdsOf, agentName } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import type { SessionDetail } from '../../model/api/session.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../../server/api-problem.ts'
import { parseMediaId } from '../../server/view/message-content.ts'
import { teamSessionId } from '../protocol.ts'
import { callerOf } from './access.ts'
import type { TeamContext } from './context.ts'
import { listSessions, toTeamItems } from './list-sessions.ts'
import type { Person } from './people.ts'

/** What the program that shows logs answers about a session. */
const SHOWN =
  /^\/api\/sessions\/[^/]+(?:\/(?:messages(?:\/[^/]+(?:\/(?:field|raw|request))?)?|turns|totals|changes|shape|find|state|secrets|export|lines\/\d+))?$/

export function sessionRoutes(api: OpenAPIHono, context: TeamContext): void {
  api.get('/api/sessions/:id/*', (c) => show(context, c))
  api.get('/api/sessions/:id', (c) => show(context, c))
  api.get('/api/media/:media', async (c) => {
    const session = parseMediaId(c.req.param('media'))?.session
    if (session === undefined) throw new ApiProblem('not_found', phrase('Image not found.', '画像が見つかりません。'))
    await openFor(context, callerOf(c).person, session)
    return context.open.answer(c.req.raw, targetOf(c))
  })
}

const targetOf = (c: Context): string => {
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}

async function openFor(context: TeamContext, person: Person, id: string) {
  const row = await context.session(person, id)
  await context.readings.note(person.id, row.key, row.person_id)
  // It changed while it was read: once more with what is there now.
  if (!(await context.open.open(context.database, person.id, row)))
    await context.open.open(context.database, person.id, await context.session(person, id))
  return row
}

async function show(context: TeamContext, c: Context): Promise<Response> {
  const { person } = callerOf(c)
  if (!SHOWN.test(c.req.path))
    throw new ApiProblem(
      'not_found',
      phrase(`No endpoint at ${c.req.path}.`, `${c.req.path} というエンドポイントはありません。`),
    )
  const row = await openFor(context, person, c.req.param('id') ?? '')
  const answer = await context.open.answer(c.req.raw, targetOf(c))
  if (!/^\/api\/sessions\/[^/]+$/.test(c.req.path) || !answer.ok) return answer
  const { data } = (await answer.json()) as { data: SessionDetail }
  const people = await context.names()
  const prices = await context.prices()
  const [item, children] = await context.database.asPerson(person.id, async (db) => {
    const listed = await listSessions(
      db,
      { kind: 'any' },
      { sort: 'created_at', isAscending: true, limit: 200, offset: 0, children: { of: row.key } },
      people,
    )
    return [
      (await toTeamItems(db, [row], people, prices))[0],
      await toTeamItems(db, listed.rows, people, prices),
    ] as const
  })
  const agent = (await allAgents()).find((one) => agentIdsOf(one).includes(row.agent))
  const header = {
    ...data.header,
    id: teamSessionId(row.key),
    agent: row.agent,
    native_id: row.native_id,
    path: teamSessionId(row.key),
  }
  return c.json({
    data: {
      ...data,
      ...item,
      header,
      agent_label: agent ? agentName(agent, row.agent) : row.agent,
      children,
      resume: null,
      resume_reason: TAKE_OVER(row.key),
    },
    meta: {},
  })
}

const TAKE_OVER = (key: string): string => `To continue it on your machine, run fumi handoff team:${key} --to <agent>.`

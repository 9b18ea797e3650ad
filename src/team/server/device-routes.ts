/** `/api/team`: what devices ask for. */

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { z } from 'zod'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../../server/api-problem.ts'
import {
  BEGIN_BODY,
  CHUNK_HEAD,
  FINISH_BODY,
  INVITE_BODY,
  JOIN_BODY,
  LEAVE_BODY,
  MAX_CHUNK_BYTES,
  POLICY_BODY,
  RECALL_QUERY,
  REPLACE_BODY,
  type ReadReply,
  type RecalledPassage,
  type RecalledSession,
  SHARE_BODY,
  type Sharing,
  TEAM_API,
  TOKEN_BODY,
  teamSessionId,
} from '../protocol.ts'
import { callerOf, refuseCode, refuseDevice } from './access.ts'
import { addAudit, readAudit } from './audit.ts'
import type { TeamContext } from './context.ts'
import { readSessions, type SessionRow } from './list-sessions.ts'
import { toLine } from './open-sessions.ts'
import { createSignInCode, invite, join, listDevices, listPeople, type Person, revokeDevice } from './people.ts'
import { readForExport } from './read-for-export.ts'
import { readLines } from './read-lines.ts'
import { recallTeam } from './recall.ts'
import { allowAgain, applyRetention, leaveTeam, withdrawSession } from './remove-sessions.ts'
import { shareSession } from './sharing.ts'
import { appendMessages, beginSession, finishSession, replaceMessages, type StoreResult } from './store-session.ts'
import { sumOf } from './sum-of-column.ts'
import { toTeamFilter } from './team-filter.ts'
import { changePolicy } from './team-settings.ts'
import { issueToken } from './tokens.ts'

const gunzipAsync = promisify(gunzip)

export function deviceRoutes(api: OpenAPIHono, context: TeamContext): void {
  const { database } = context
  const post = (path: string, answer: (c: Context) => Promise<object>): void => {
    api.post(`${TEAM_API}${path}`, async (c) => c.json({ data: await answer(c), meta: {} }))
  }
  const get = (path: string, answer: (c: Context) => Promise<object>): void => {
    api.get(`${TEAM_API}${path}`, async (c) => c.json({ data: await answer(c), meta: {} }))
  }

  get('/about', async () => {
    const { id, name } = await context.team()
    return { id, name, version: context.version, time: new Date().toISOString() }
  })
  post('/join', async (c) => {
    const body = await readBody(c, JOIN_BODY)
    const result = await join(database, body)
    if (result.kind !== 'done') throw refuseCode(result)
    context.forgetTeam()
    const { person, device } = result.value
    await database.asServer((db) => addAudit(db, { action: 'join', person: person.id, device, detail: body.device }))
    return result.value
  })
  post('/token', async (c) => {
    const result = await issueToken(database, await context.team(), await readBody(c, TOKEN_BODY))
    if (result.kind === 'refused') throw refuseDevice(result.why)
    return result.value
  })
  get('/me', async (c) => {
    const { person } = callerOf(c)
    const { name, policy } = await context.team()
    return {
      team: name,
      person: { name: person.name, email: person.email, is_admin: person.is_admin },
      policy,
      people: (await listPeople(database)).map((one) => one.name),
      ...(await countOwn(context, person)),
    }
  })
  post('/invite', async (c) => {
    const { person } = callerOf(c)
    const body = await readBody(c, INVITE_BODY)
    const code = await invite(database, body, person)
    await database.asServer((db) =>
      addAudit(db, { action: 'invite', person: person.id, detail: body.name ?? body.email ?? '' }),
    )
    return { code }
  })
  post('/sign-in-code', async (c) => ({ code: await createSignInCode(database, callerOf(c).person) }))
  get('/devices', async (c) => listDevices(database, callerOf(c).person))
  post('/devices/:id/revoke', async (c) => {
    const { person } = callerOf(c)
    const device = Number(c.req.param('id'))
    if (!(await revokeDevice(database, device, person)))
      throw new ApiProblem(
        'not_found',
        phrase('No such device, or it is revoked already.', 'その機器はないか、すでに取り消されています。'),
      )
    await database.asServer((db) => addAudit(db, { action: 'revoke', person: person.id, device }))
    return { revoked: device }
  })
  get('/audit', async (c) =>
    readAudit(
      database,
      callerOf(c).person,
      Math.min(10_000, Math.max(1, Math.trunc(Number(c.req.query('limit') ?? 100) || 100))),
    ),
  )
  post('/policy', async (c) => {
    const { person } = callerOf(c)
    requireAdministrator(person)
    const policy = await changePolicy(database, await readBody(c, POLICY_BODY))
    context.forgetTeam()
    await database.asServer((db) =>
      addAudit(db, { action: 'policy', person: person.id, detail: JSON.stringify(policy) }),
    )
    await applyRetention(database, policy.retention_days)
    return policy
  })
  post('/leave', async (c) => {
    const { person } = callerOf(c)
    const { sessions, person: name } = await readBody(c, LEAVE_BODY)
    const { policy } = await context.team()
    const isErased = policy.leaving === 'choice' ? sessions !== 'leave' : policy.leaving === 'erase'
    const leaving = name === undefined ? person.id : await memberToRemove(context, person, name)
    const left = await leaveTeam(database, leaving, isErased, person.id)
    context.forgetTeam()
    return { sessions: left, erased: isErased }
  })
  sessionRoutes(context, { get, post })
}

interface RouteAdders {
  get(path: string, answer: (c: Context) => Promise<object>): void
  post(path: string, answer: (c: Context) => Promise<object>): void
}

function sessionRoutes(context: TeamContext, { get, post }: RouteAdders): void {
  const { database } = context
  post('/sessions', async (c) => {
    const { person, device } = callerOf(c)
    const body = await readBody(c, BEGIN_BODY)
    await checkSharing(context, body.shared)
    return beginSession(database, person.id, device ?? 0, body)
  })
  get('/sessions', async (c) => {
    const { person } = callerOf(c)
    return database.asPerson(person.id, (db) =>
      db.rows(
        `SELECT 'team:' || lpad(to_hex(s.session_key), 16, '0') AS id, s.agent, s.native_id, s.title, j.name AS project, s.shared, s.stored,
           s.is_complete, s.total_tokens, s.last_at, s.pushed_at
         FROM session s JOIN project j ON j.id = s.project_id WHERE s.person_id = me() ORDER BY s.pushed_at DESC LIMIT 1000`,
      ),
    )
  })
  post('/sessions/:key/messages', async (c) => {
    await checkSharing(context, 'team')
    const [first = '', ...lines] = (await readText(c)).split('\n').filter((line) => line !== '')
    const head = checkBody(CHUNK_HEAD, parseJson(first))
    return answerStored(await appendMessages(database, callerOf(c).person.id, keyOf(c), head, lines))
  })
  post('/sessions/:key/replace', async (c) =>
    answerStored(await replaceMessages(database, callerOf(c).person.id, keyOf(c), await readBody(c, REPLACE_BODY))),
  )
  post('/sessions/:key/finish', async (c) => {
    const { policy } = await context.team()
    const body = await readBody(c, FINISH_BODY)
    return answerStored(await finishSession(database, callerOf(c).person.id, keyOf(c), body, policy.usage_only))
  })
  post('/sessions/:key/share', async (c) => {
    const { person } = callerOf(c)
    const { shared, people } = await readBody(c, SHARE_BODY)
    await checkSharing(context, shared)
    if (!(await shareSession(database, person.id, keyOf(c), shared, people))) throw notYours()
    if (shared === 'usage') await context.open.close(keyOf(c))
    await database.asServer((db) =>
      addAudit(db, { action: 'share', person: person.id, session: keyOf(c), owner: person.id, detail: shared }),
    )
    return { shared }
  })
  post('/sessions/:key/withdraw', async (c) => {
    const { person } = callerOf(c)
    if (!(await withdrawSession(database, person.id, keyOf(c)))) throw notYours()
    await context.open.close(keyOf(c))
    await database.asServer((db) =>
      addAudit(db, { action: 'withdraw', person: person.id, session: keyOf(c), owner: person.id }),
    )
    return { withdrawn: teamSessionId(keyOf(c)) }
  })
  post('/sessions/:key/allow', async (c) => {
    await allowAgain(database, callerOf(c).person.id, keyOf(c))
    return { allowed: teamSessionId(keyOf(c)) }
  })
  /** What the team said about a question, best first. Who gets a passage has read it. */
  get('/recall', async (c) => {
    const { person } = callerOf(c)
    const { q, limit, ...filters } = checkBody(RECALL_QUERY, c.req.query())
    const people = await context.names()
    const found = await recallTeam(database, person.id, q, { filter: toTeamFilter(filters), people, limit })
    const rows = await database.asPerson(person.id, (db) =>
      readSessions(
        db,
        found.map(({ key }) => key),
      ),
    )
    const sessions = new Map(rows.map((row) => [row.key, row]))
    for (const row of rows) await context.readings.note(person.id, row.key, row.person_id)
    return found.flatMap(({ key, seq, at, message, words }): RecalledPassage | [] => {
      const row = sessions.get(key)
      return row ? { ...describeSession(row, people), seq, at: at.toISOString(), message, words } : []
    })
  })
  /** Messages of a session, in parts, for reading. */
  get('/sessions/:key/messages', async (c) => {
    const { person } = callerOf(c)
    const row = await context.session(person, teamSessionId(keyOf(c)))
    await context.readings.note(person.id, row.key, row.person_id)
    const from = firstOf(c)
    const lines = await database.asPerson(person.id, (db) => readLines(db, row.key, from, READ_LINES))
    const session = describeSession(row, await context.names())
    const messages = lines.map(({ seq, body }) => ({ seq, message: JSON.parse(body) as NormalizedMessage }))
    return { session, stored: row.stored, messages } satisfies ReadReply
  })
  /** Every session whose numbers the person may see, for a copy in a lake: page after page, by key. */
  get('/export', async (c) => {
    const { person } = callerOf(c)
    const people = await context.names()
    const after = /^[\da-f]{16}$/.exec(c.req.query('after') ?? '')?.[0]
    return database.asPerson(person.id, (db) => readForExport(db, people, after))
  })
  /** The messages as a log, in parts: for taking over, for taking one's own along, and for a lake. */
  get('/sessions/:key/log', async (c) => {
    const { person } = callerOf(c)
    const row = await context.session(person, teamSessionId(keyOf(c)))
    const from = firstOf(c)
    if (from > 0) await context.readings.note(person.id, row.key, row.person_id)
    else if (row.person_id !== person.id)
      await database.asServer((db) =>
        addAudit(db, {
          action: c.req.query('for') === 'export' ? 'export' : 'take_over',
          person: person.id,
          session: row.key,
          owner: row.person_id,
        }),
      )
    const lines = await database.asPerson(person.id, (db) => readLines(db, row.key, from, LOG_LINES))
    return {
      lines: lines.map(({ seq, body }) => toLine(body, row.key, seq === 0 ? row : undefined)),
      next: lines.length < LOG_LINES ? null : (lines.at(-1)?.seq ?? 0) + 1,
      agent: row.agent,
      native_id: row.native_id,
    }
  })
}

/** Number of the first message that is asked for. */
const firstOf = (c: Context): number =>
  Math.min(MAX_SEQ, Math.max(0, Math.trunc(Number(c.req.query('from') ?? 0) || 0)))

const MAX_SEQ = 2_000_000_000
const LOG_LINES = 500
const READ_LINES = 100

const describeSession = (row: SessionRow, people: ReadonlyMap<number, string>): RecalledSession => ({
  session: teamSessionId(row.key),
  person: people.get(row.person_id) ?? null,
  project: row.project,
  agent: row.agent,
  title: row.title ?? row.first_prompt,
})

/** A team that accepts numbers only accepts no text by any route. */
async function checkSharing(context: TeamContext, shared: Sharing): Promise<void> {
  const { policy } = await context.team()
  if (policy.usage_only && shared !== 'usage')
    throw new ApiProblem(
      'not_possible',
      phrase(
        'This team accepts numbers only. Share with usage.',
        'このチームが受け取るのは数値だけです。usage で共有してください。',
      ),
      { reason: 'usage_only' },
    )
}

async function countOwn({ database }: TeamContext, { id }: Person): Promise<object> {
  const counted = await database.asPerson(id, (db) =>
    db.first(
      `SELECT count(*) AS sessions, ${sumOf('stored')} AS messages, ${sumOf('total_tokens')} AS total_tokens,
         max(pushed_at) AS last_push FROM session WHERE person_id = me()`,
    ),
  )
  return counted ?? {}
}

/** Somebody whose devices are gone cannot leave by themselves. */
async function memberToRemove({ database }: TeamContext, by: Person, name: string): Promise<number> {
  requireAdministrator(by)
  const members = await listPeople(database)
  const found = members.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (found) return found.id
  throw new ApiProblem(
    'not_found',
    phrase(`Nobody in the team is called ${name}.`, `チームに ${name} という人はいません。`),
  )
}

function requireAdministrator({ is_admin }: Person): void {
  if (!is_admin)
    throw new ApiProblem(
      'forbidden',
      phrase('Only administrators of the team can do this.', 'この操作はチームの管理者だけが行えます。'),
    )
}

const notYours = (): ApiProblem =>
  new ApiProblem(
    'session_not_found',
    phrase('You have no such session in the team.', 'チームに、あなたのその会話はありません。'),
  )

function answerStored(result: StoreResult): object {
  if (result.kind === 'stored') return result
  if (result.kind === 'gone') throw notYours()
  throw new ApiProblem(
    'not_possible',
    phrase(
      'The server has other messages. Begin again.',
      'サーバーのメッセージと一致しません。最初から送り直してください。',
    ),
    { reason: 'conflict' },
  )
}

function keyOf(c: Context): string {
  const key = c.req.param('key') ?? ''
  if (/^[\da-f]{16}$/.test(key)) return key
  throw notYours()
}

async function readBody<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.output<Schema>> {
  return checkBody(schema, parseJson(await readText(c)))
}

/** Compressed or not. */
async function readText(c: Context): Promise<string> {
  const bytes = Buffer.from(await c.req.arrayBuffer())
  if (c.req.header('content-encoding') !== 'gzip') return bytes.toString('utf8')
  try {
    return (await gunzipAsync(bytes, { maxOutputLength: MAX_CHUNK_BYTES })).toString('utf8')
  } catch {
    throw new AppError('bad_usage', 'The body of the request cannot be decompressed.', '要求の本文を展開できません。')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiProblem(
      'invalid_parameters',
      phrase('The request body is not valid JSON.', 'リクエストの本文が正しい JSON ではありません。'),
    )
  }
}

function checkBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  throw new ApiProblem('invalid_parameters', phrase(fields, `指定に誤りがあります（${fields}）。`))
}

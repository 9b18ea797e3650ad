/** `/api/chat`: a conversation is held here. Words go in by requests, what happens comes out as events. */
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import { filesLike } from '../chat/files.ts'
import { optionsOf } from '../chat/options.ts'
import type { Talks } from '../chat/talks.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { text } from '../openapi/parameters.ts'

const NAME = z.string().min(1).max(500).optional()
const LONGEST = 250_000

export function chatRoutes(app: OpenAPIHono, { house }: HouseView, talks: Talks): void {
  serve(
    app,
    {
      method: 'get',
      path: '/api/chat/options',
      summary: 'With what a conversation can be begun',
      description: 'Profiles without their keys. The server of the profile is asked for its models.',
      query: z.object({
        profile: text('Whose models are told; the usual one if not given.'),
        directory: text('Whose agents are told; one of the directories of the reply.'),
      }),
      reply: 'ChatOptionsReply',
      errors: ['not_possible'],
    },
    async ({ query: { profile, directory } }) => ({
      data: await optionsOf(talks, house.directory, { profile, directory }),
      meta: {},
    }),
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/chat',
      summary: 'Open a conversation: a new one, one of ours, or a copy of any other',
      description:
        'One that is open here already is given as it is. It is closed when nobody listens for a minute and nothing runs. Tools ask, unless the agent allows them or somebody trusts them on the page. directory_needed: the user has to choose the directory, or to confirm the one in meta.suggestion, which comes from meta.from (log, journal, request) and is not trusted; meta.usable says whether it is a directory here, meta.warning why it is too wide (root, home, above_home, data, settings, system). Repeat the request with directory and confirmed. trust_needed: the agent is a file of the project that is not trusted; meta.trust says what it would do, and POST /api/chat/trust trusts it.',
      body: z.strictObject({
        session: NAME,
        directory: z.string().max(4096).optional(),
        confirmed: z.boolean().optional(),
        profile: NAME,
        model: NAME,
        agent: NAME,
      }),
      reply: 'ChatReply',
      errors: [
        'session_not_found',
        'source_gone',
        'not_possible',
        'directory_needed',
        'trust_needed',
        'conversation_busy',
      ],
    },
    async ({ body: { session, directory, confirmed, profile, model, agent } }) => {
      const held = await talks.open({
        ...(session !== undefined && { session }),
        ...(directory !== undefined && { directory }),
        ...(confirmed !== undefined && { confirmed }),
        ...(profile !== undefined && { profile }),
        ...(model !== undefined && { model }),
        ...(agent !== undefined && { agent }),
      })
      return { data: held.state, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/chat/trust',
      summary: 'Trust a file of a project: its hooks and servers may run',
      description:
        'Only the version whose hashes are given; another one is answered with trust_needed and what it would do. The file belongs to a directory of the options. fumi trust --remove takes it back.',
      body: z.strictObject({
        path: z.string().min(1).max(4096),
        sha256: z.string().regex(/^[\da-f]{64}$/),
        prompt_sha256: z
          .string()
          .regex(/^[\da-f]{64}$/)
          .nullable(),
      }),
      reply: 'ChatTrustReply',
      errors: ['not_possible', 'trust_needed'],
    },
    ({ body }) => ({ data: talks.trustFile(body), meta: {} }),
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/chat/{id}/say',
      summary: 'Say something, or give a command that begins with a slash',
      description:
        'Answers at once; what comes of it are events. Files lie in the directory of the conversation; a shell command of one’s own and trust in all tools are for the terminal.',
      body: z.strictObject({ text: z.string().min(1).max(LONGEST) }),
      reply: 'ChatReply',
      status: 202,
      errors: ['not_found', 'not_possible', 'conversation_busy'],
    },
    ({ param, body }) => {
      const held = talks.get(param('id'))
      held.say(body.text)
      return { data: held.state, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/chat/{id}/answer',
      summary: 'Answer a tool that asks',
      description: 'The first answer counts, whichever page it comes from. trust: from now on in this conversation.',
      body: z.strictObject({
        id: z.string().min(1).max(500),
        consent: z.enum(['yes', 'no', 'trust', 'words']),
        text: z.string().max(LONGEST).optional(),
      }),
      reply: 'ChatReply',
      errors: ['not_found'],
    },
    ({ param, body: { id, consent, text: words = '' } }) => {
      const held = talks.get(param('id'))
      held.answer(id, consent, words)
      return { data: held.state, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/chat/{id}/interrupt',
      summary: 'End what is going on; what was said stays',
      reply: 'ChatReply',
      errors: ['not_found'],
    },
    ({ param }) => {
      const held = talks.get(param('id'))
      held.interrupt()
      return { data: held.state, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/chat/{id}/files',
      summary: 'Paths in the directory of the conversation, for completion',
      query: z.object({ q: z.string().max(1000).default('').openapi({ description: 'What they begin with.' }) }),
      reply: 'ChatFilesReply',
      errors: ['not_found'],
    },
    ({ param, query }) => ({ data: filesLike(query.q, talks.get(param('id')).talk.rig.place), meta: {} }),
  )
  eventRoute(app, talks)
}

/** Comments that keep the line open, and find out who is gone. */
const HEARTBEAT = 15_000

function eventRoute(app: OpenAPIHono, talks: Talks): void {
  serve(
    app,
    {
      method: 'get',
      path: '/api/chat/{id}/events',
      summary: 'What happens in a conversation, as server-sent events',
      description:
        'A client that comes back with the id of the last event as Last-Event-ID, or since, is told what it missed; any other is told what was said so far, and all that has happened since.',
      query: z.object({ since: text('As Last-Event-ID, for clients that cannot send it.') }),
      reply: 'text/event-stream',
      errors: ['not_found'],
    },
    ({ c, query, param, signal }) => {
      const held = talks.get(param('id'))
      const gone = new AbortController()
      if (signal.aborted) gone.abort()
      else signal.addEventListener('abort', () => gone.abort(), { once: true })
      const response = streamSSE(c, async (stream) => {
        stream.onAbort(() => gone.abort())
        const since = c.req.header('last-event-id') ?? query.since
        for await (const one of held.events(since, gone.signal, HEARTBEAT)) {
          if (stream.aborted) break
          if (one) await stream.writeSSE({ event: one.event.kind, data: JSON.stringify(one.event), id: one.id })
          else await stream.write(': still here\n\n')
        }
      })
      response.headers.set('cache-control', 'no-store, no-transform')
      response.headers.set('x-accel-buffering', 'no')
      return response
    },
  )
}

/** `/api/chat`: prompts and answers arrive as requests, everything that happens is sent as events. */

import { join } from 'node:path'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import type { Workspace } from '../../chat/tools/tool.ts'
import { listEntries, SKIPPED_FOLDERS } from '../../lib/files/safe-fs.ts'
import { readChatOptions } from '../chat/chat-options.ts'
import { isWithinDirectory } from '../chat/check-line.ts'
import type { OpenChats } from '../chat/open-chats.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, textParameter } from '../openapi/endpoint.ts'

const NAME_SCHEMA = z.string().min(1).max(500).optional()
const MAX_TEXT_LENGTH = 250_000

export function chatRoutes(api: OpenAPIHono, { app }: ServerContext, chats: OpenChats): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/chat/options',
    summary: 'With what a conversation can be begun',
    description: 'Profiles without their keys. The server of the profile is asked for its models.',
    query: z.object({
      profile: textParameter('Whose models are told; the usual one if not given.'),
      directory: textParameter('Whose agents are told; one of the directories of the reply.'),
    }),
    reply: 'ChatOptionsReply',
    errors: ['not_possible'],
    answer: async ({ query: { profile, directory } }) => ({
      data: await readChatOptions(chats, app.directory, { profile, directory }),
      meta: {},
    }),
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/chat',
    summary: 'Open a conversation: a new one, one of ours, or a copy of any other',
    description:
      'One that is open here already is given as it is. It is closed when nobody listens for a minute and nothing runs. Tools ask, unless the agent allows them or somebody trusts them on the page. directory_needed: the user has to choose the directory, or to confirm the one in meta.suggestion, which comes from meta.from (log, journal, request) and is not trusted; meta.usable says whether it is a directory here, meta.warning why it is too wide (root, home, above_home, data, settings, system). Repeat the request with directory and confirmed. trust_needed: the agent is a file of the project that is not trusted; meta.trust says what it would do, and POST /api/chat/trust trusts it.',
    body: z.strictObject({
      session: NAME_SCHEMA,
      directory: z.string().max(4096).optional(),
      confirmed: z.boolean().optional(),
      profile: NAME_SCHEMA,
      model: NAME_SCHEMA,
      agent: NAME_SCHEMA,
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
    answer: async ({ body }) => ({ data: (await chats.open(body)).state, meta: {} }),
  })
  addEndpoint(api, {
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
    answer: ({ body }) => ({ data: chats.trustFile(body), meta: {} }),
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/chat/{id}/say',
    summary: 'Say something, or give a command that begins with a slash',
    description:
      'Answers at once; what comes of it are events. Files lie in the directory of the conversation; a shell command of one’s own and trust in all tools are for the terminal.',
    body: z.strictObject({ text: z.string().min(1).max(MAX_TEXT_LENGTH) }),
    reply: 'ChatReply',
    status: 202,
    errors: ['not_found', 'not_possible', 'conversation_busy'],
    answer: ({ param, body }) => {
      const chat = chats.get(param('id'))
      chat.send(body.text)
      return { data: chat.state, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/chat/{id}/answer',
    summary: 'Answer a tool that asks',
    description: 'The first answer counts, whichever page it comes from. trust: from now on in this conversation.',
    body: z.strictObject({
      id: z.string().min(1).max(500),
      consent: z.enum(['yes', 'no', 'trust', 'words']),
      text: z.string().max(MAX_TEXT_LENGTH).optional(),
    }),
    reply: 'ChatReply',
    errors: ['not_found'],
    answer: ({ param, body: { id, consent, text: words = '' } }) => {
      const chat = chats.get(param('id'))
      chat.answer(id, consent, words)
      return { data: chat.state, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/chat/{id}/interrupt',
    summary: 'End what is going on; what was said stays',
    reply: 'ChatReply',
    errors: ['not_found'],
    answer: ({ param }) => {
      const chat = chats.get(param('id'))
      chat.interrupt()
      return { data: chat.state, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/chat/{id}/files',
    summary: 'Paths in the directory of the conversation, for completion',
    query: z.object({ q: z.string().max(1000).default('').openapi({ description: 'What they begin with.' }) }),
    reply: 'ChatFilesReply',
    errors: ['not_found'],
    answer: ({ param, query }) => ({
      data: completePath(query.q, chats.get(param('id')).session.setup.workspace),
      meta: {},
    }),
  })
  addEventRoute(api, chats)
}

/** Comments keep the connection open and detect clients that are gone. */
const HEARTBEAT_MS = 15_000

function addEventRoute(api: OpenAPIHono, chats: OpenChats): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/chat/{id}/events',
    summary: 'What happens in a conversation, as server-sent events',
    description:
      'A client that comes back with the id of the last event as Last-Event-ID, or since, is told what it missed; any other is told what was said so far, and all that has happened since.',
    query: z.object({ since: textParameter('As Last-Event-ID, for clients that cannot send it.') }),
    reply: 'text/event-stream',
    errors: ['not_found'],
    answer: ({ c, query, param, signal }) => {
      const chat = chats.get(param('id'))
      const disconnected = new AbortController()
      if (signal.aborted) disconnected.abort()
      else signal.addEventListener('abort', () => disconnected.abort(), { once: true })
      const response = streamSSE(c, async (stream) => {
        stream.onAbort(() => disconnected.abort())
        const since = c.req.header('last-event-id') ?? query.since
        for await (const one of chat.events(since, disconnected.signal, HEARTBEAT_MS)) {
          if (stream.aborted) break
          if (one) await stream.writeSSE({ event: one.event.kind, data: JSON.stringify(one.event), id: one.id })
          else await stream.write(': still here\n\n')
        }
      })
      response.headers.set('cache-control', 'no-store, no-transform')
      response.headers.set('x-accel-buffering', 'no')
      return response
    },
  })
}

const MAX_PATHS = 30

/** @param typed relative to the chat's directory; other paths give no results */
function completePath(typed: string, workspace: Workspace): readonly string[] {
  const slash = typed.lastIndexOf('/') + 1
  const folder = typed.slice(0, slash)
  const begin = typed.slice(slash).toLowerCase()
  if (folder.startsWith('/') || !isWithinDirectory(folder === '' ? '.' : folder, workspace)) return []
  return listEntries(join(workspace.cwd, folder))
    .filter(({ name }) => name.toLowerCase().startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
    .filter((entry) => !SKIPPED_FOLDERS.has(entry.name) && (entry.isFile() || entry.isDirectory()))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort()
    .slice(0, MAX_PATHS)
}

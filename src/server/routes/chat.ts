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
    summary: 'List profiles, models, agents and directories for a chat',
    description: 'Contains no API keys. Requests the list of models from the server of the profile.',
    query: z.object({
      profile: textParameter('Profile whose models to list. Uses the default profile if absent.'),
      directory: textParameter('Directory whose agents to list. Must be one of the directories of the reply.'),
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
    summary: 'Open a chat',
    description:
      'Starts a new chat, or continues a session: a chat of fumibako itself, any other session as a copy. If the chat is already open, the reply is its state. A chat closes after a minute without a client and without a running turn. Tools need consent unless the agent allows them or the user trusts them. On directory_needed, let the user choose a directory or confirm the one in meta.suggestion, then repeat the request with directory and confirmed; meta is a ChatDirectoryNeeded. On trust_needed, the agent is a project file that is not trusted; meta.trust describes what it would do, and POST /api/chat/trust trusts it.',
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
    summary: 'Trust a project file, so that its hooks and servers can run',
    description:
      'Trusts only the version with these hashes; for another version, the reply is trust_needed. The file must belong to a directory of the options. To undo this, run fumi trust --remove.',
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
    summary: 'Send a prompt or a slash command',
    description:
      'Replies at once; the results are events. Attached files must be in the directory of the chat. Shell commands of the user and trust in all tools are available only in the terminal.',
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
    path: '/api/chat/{id}/attachments',
    summary: 'Attach a file to the next prompt',
    description:
      'The body is the file itself: an image, a PDF or a text. It is kept until the chat closes. To take all attachments back, send /attach clear.',
    query: z.object({ name: z.string().min(1).max(300).openapi({ description: 'Name of the file.' }) }),
    reply: 'ChatReply',
    errors: ['not_found', 'not_possible', 'body_too_large'],
    answer: async ({ c, param, query }) => {
      const chat = chats.get(param('id'))
      chat.attach(query.name, new Uint8Array(await c.req.arrayBuffer()))
      return { data: chat.state, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/chat/{id}/answer',
    summary: 'Answer a request for consent',
    description: 'The first answer from any client counts. trust allows the tool for the rest of the chat.',
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
    summary: 'Interrupt the running turn',
    description: 'Keeps what the turn has produced so far.',
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
    summary: 'Complete a path in the directory of the chat',
    query: z.object({ q: z.string().max(1000).default('').openapi({ description: 'Beginning of the path.' }) }),
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
    summary: 'Stream the events of a chat',
    description:
      'Server-sent events. A client that reconnects with the id of its last event as Last-Event-ID or since receives the events that it missed. Other clients receive the messages so far and the events of the running turn.',
    query: z.object({ since: textParameter('Replaces the header Last-Event-ID for clients that cannot send it.') }),
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

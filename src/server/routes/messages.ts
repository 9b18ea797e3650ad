/** `/api/sessions/:id/messages`: windows, one message, its parts, its raw record. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { LoadedMessage, SessionEntry } from '../../app.ts'
import type { MessageItem, WindowMeta } from '../../model/api/message.ts'
import { reasoningTextOf } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, numberParameter, textParameter } from '../openapi/endpoint.ts'
import { decodeImage, parseMediaId } from '../view/message-content.ts'
import { readMessageItem, readWindowItems } from '../view/message-window.ts'
import { messageNotFound, readLineItem, readRawItem, sourceGoneProblem } from '../view/raw-record.ts'
import { buildRequestItem } from '../view/request-item.ts'

const DEFAULT_LIMIT = 100
const VARIANT_PARAMETERS = {
  variant: z.enum(['original', 'sanitized']).default('original').openapi({
    description:
      'original: exact text, plus html. sanitized: segments[].text is HTML with the tags that the specification allows; html is absent.',
  }),
  inline: z.enum(['media']).optional().openapi({ description: 'media: adds images as data_uri.' }),
}

export function messageRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages',
    summary: 'List messages of a session',
    description:
      'Give at most one of offset, around, after and before. before=end returns the last messages. Without any, the reply starts with the first message.',
    query: z.object({
      offset: numberParameter('Position of the first message, from 0.', 0, 1e9),
      around: textParameter('Id of the message in the middle.'),
      after: textParameter('Returns the messages after this id.'),
      before: textParameter('Returns the messages before this id, or the last ones for end.'),
      limit: numberParameter(`Maximum number of messages, ${DEFAULT_LIMIT} by default.`, 1, 500),
      ...VARIANT_PARAMETERS,
    }),
    reply: 'WindowReply',
    errors: ['session_not_found'],
    answer: async ({ param, query }) => {
      const { limit = DEFAULT_LIMIT, variant, inline, before, ...place } = query
      if (Object.keys(place).length + (before === undefined ? 0 : 1) > 1)
        throw new ApiProblem(
          'invalid_parameters',
          phrase(
            'Give only one of offset, around, after and before.',
            'offset・around・after・before のどれか 1 つを指定してください。',
          ),
        )
      const entry = context.session(param('id'))
      const windowRequest = {
        limit,
        ...place,
        ...(before === 'end' ? { end: true as const } : before !== undefined && { before }),
      }
      const window = await readWindowItems(context, entry, windowRequest, { variant, inline: inline === 'media' })
      const meta: WindowMeta = { offset: window.offset, total: window.total, revision: entry.revision }
      return { data: window.items satisfies readonly MessageItem[], meta }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}',
    summary: 'Get a message with all its text',
    query: z.object(VARIANT_PARAMETERS),
    reply: 'MessageReply',
    errors: ['session_not_found', 'message_not_found'],
    answer: async ({ param, query: { variant, inline } }) => {
      const entry = context.session(param('id'))
      const item = await readMessageItem(context, entry, param('mid'), { variant, inline: inline === 'media' })
      if (!item) throw messageNotFound(entry, param('mid'))
      return { data: item, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}/field',
    summary: 'Get the full text of a field',
    query: z.object({ name: z.string().max(100).openapi({ description: 'Field name from left_out.' }) }),
    reply: 'text/plain',
    errors: ['session_not_found', 'message_not_found', 'source_gone'],
    answer: async ({ param, query }) => {
      const { message } = await readBody(context, context.session(param('id')), param('mid'))
      const found = readMessageField(message, query.name)
      if (found === undefined)
        throw new ApiProblem(
          'message_not_found',
          phrase(`The message has no field ${query.name}.`, `このメッセージに ${query.name} はありません。`),
        )
      return new Response(found, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}/request',
    summary: 'Get the model request that contains a message',
    description:
      'Available for Amazon Q, Kiro and fumibako. The request is reconstructed from the log; supposed lists the assumptions.',
    reply: 'RequestReply',
    errors: ['session_not_found', 'message_not_found', 'not_possible'],
    answer: async ({ param }) => {
      const entry = context.session(param('id'))
      const id = param('mid')
      const [known] = context.app.index.messages(entry.id, { around: id, limit: 1 })
      if (known?.id !== id) throw messageNotFound(entry, id)
      const data = await buildRequestItem(context.app, entry, known)
      if (!data)
        throw new ApiProblem(
          'not_possible',
          phrase(
            `${entry.agent} records no request that contains ${id}.`,
            `${id} は、${entry.agent} が記録した要求に含まれていません。`,
          ),
        )
      return { data, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}/raw',
    summary: 'Get the source record of a message',
    description: 'Parsed JSON. Ciphertext is replaced by its hash and length.',
    reply: 'RawReply',
    errors: ['session_not_found', 'message_not_found', 'source_gone'],
    answer: async ({ param }) => ({
      data: await readRawItem(context, context.session(param('id')), param('mid')),
      meta: {},
    }),
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/lines/{line}',
    summary: 'Get a line of the log',
    description:
      'Parsed JSON, or text if the line is not JSON. For a database row, line is the number of a readable entry.',
    reply: 'LineReply',
    errors: ['session_not_found', 'not_found', 'source_gone'],
    answer: async ({ param, signal }) => {
      const line = /^\d{1,12}$/.test(param('line')) ? Number(param('line')) : 0
      return { data: await readLineItem(context, context.session(param('id')), line, signal), meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/media/{media}',
    summary: 'Get an image of a message',
    description: 'Supports raster images: png, jpeg, gif, webp, avif, bmp.',
    reply: 'image/*',
    errors: ['not_found', 'source_gone'],
    answer: async ({ param }) => {
      const location = parseMediaId(param('media'))
      if (!location) throw new ApiProblem('not_found', NO_IMAGE)
      const { message } = await readBody(context, context.session(location.session), location.message)
      const image = decodeImage(message.segments[location.segment]?.media)
      if (!image) throw new ApiProblem('not_found', NO_IMAGE)
      return new Response(new Uint8Array(image.bytes), {
        headers: {
          'content-type': image.type,
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'private, max-age=86400',
        },
      })
    },
  })
}

async function readBody(
  context: ServerContext,
  entry: SessionEntry,
  id: string,
): Promise<Extract<LoadedMessage, { kind: 'body' }>> {
  const body = await context.app.message(entry.id, id)
  if (!body) throw messageNotFound(entry, id)
  if (body.kind === 'gone') throw sourceGoneProblem(body.reason)
  return body
}

const NO_IMAGE = phrase('Image not found.', '画像が見つかりません。')

const TOOL_TEXTS = ['arguments', 'input', 'output'] as const
const TOOL_VALUES = ['arguments_json', 'input_json', 'output_json'] as const

function readMessageField(message: NormalizedMessage, name: string): string | undefined {
  const segment = /^segments\.(\d{1,6})\.text$/.exec(name)?.[1]
  if (segment !== undefined) return message.segments[Number(segment)]?.text
  if (name === 'reasoning.text') return reasoningTextOf(message)
  if (name === 'metadata') return toPrettyJson(message.metadata)
  const tool = message.tool_call
  const text = TOOL_TEXTS.find((one) => name === `tool_call.${one}`)
  if (text) return tool?.[text]
  const value = TOOL_VALUES.find((one) => name === `tool_call.${one}`)
  return value ? toPrettyJson(tool?.[value]) : undefined
}

function toPrettyJson(value: object | undefined): string | undefined {
  if (value === undefined) return undefined
  try {
    return JSON.stringify(value, undefined, 2)
  } catch {
    return undefined
  }
}

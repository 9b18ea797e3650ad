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
    description: 'sanitized: segments[].text is HTML of the allowed tags, as the specification says; html is absent.',
  }),
  inline: z.enum(['media']).optional().openapi({ description: 'media: images as data_uri too.' }),
}

export function messageRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages',
    summary: 'A window of messages',
    description:
      'At most one of offset, around, after and before. before=end gives the last ones; the first ones come where none is given.',
    query: z.object({
      offset: numberParameter('Counted from 0 over all messages of the session.', 0, 1e9),
      around: textParameter('Id of a message that is to be in the middle.'),
      after: textParameter('Id of the message before the first one.'),
      before: textParameter('Id of the message after the last one, or end.'),
      limit: numberParameter(`${DEFAULT_LIMIT} if not given.`, 1, 500),
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
            'Give one of offset, around, after and before.',
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
    summary: 'One message, nothing cut',
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
    summary: 'One text of a message, whole',
    query: z.object({ name: z.string().max(100).openapi({ description: 'As left_out names it.' }) }),
    reply: 'text/plain',
    errors: ['session_not_found', 'message_not_found', 'source_gone'],
    answer: async ({ param, query }) => {
      const { message } = await readBody(context, context.session(param('id')), param('mid'))
      const found = readMessageField(message, query.name)
      if (found === undefined)
        throw new ApiProblem(
          'message_not_found',
          phrase(`The message has no ${query.name}.`, `このメッセージに ${query.name} はありません。`),
        )
      return new Response(found, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}/request',
    summary: 'The request to which a message belongs, as the model saw it',
    description: 'Of Amazon Q, Kiro and our own conversations. Made again from what was recorded; see supposed.',
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
            `${id} is part of no request that ${entry.agent} records.`,
            `${id} は、${entry.agent} が記録した要求に含まれていません。`,
          ),
        )
      return { data, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/messages/{mid}/raw',
    summary: 'The record in the source',
    description: 'As it stands there, parsed. Ciphertext is told by its hash and length.',
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
    summary: 'A line of the log, be it damaged',
    description: 'As it stands there: parsed, or as text where it is no JSON. Of a row, an entry that could be read.',
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
    summary: 'An image of a message',
    description: 'Only pictures made of dots: png, jpeg, gif, webp, avif, bmp.',
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

const NO_IMAGE = phrase('There is no such image.', 'その画像はありません。')

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

/** `/api/sessions/:id/messages`: windows, one message, its parts, its source. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Body, Entry } from '../../app.ts'
import type { MessageItem, WindowMeta } from '../../model/api/message.ts'
import { phrase } from '../../model/phrase.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { number, text } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { fieldIn } from '../view/message/field.ts'
import { imageIn, mediaPlace } from '../view/message/media.ts'
import { lineItem, noMessage, rawItem, sourceGone } from '../view/message/raw-item.ts'
import { oneItem, windowItems } from '../view/message/window.ts'
import { requestItem } from '../view/request/request-item.ts'

const LIMIT = 100
const VARIANT = {
  variant: z.enum(['original', 'sanitized']).default('original').openapi({
    description: 'sanitized: segments[].text is HTML of the allowed tags, as the specification says; html is absent.',
  }),
  inline: z.enum(['media']).optional().openapi({ description: 'media: images as data_uri too.' }),
}

export function messageRoutes(app: OpenAPIHono, view: HouseView): void {
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/messages',
      summary: 'A window of messages',
      description:
        'At most one of offset, around, after and before. before=end gives the last ones; the first ones come where none is given.',
      query: z.object({
        offset: number('Counted from 0 over all messages of the session.', 0, 1e9),
        around: text('Id of a message that is to be in the middle.'),
        after: text('Id of the message before the first one.'),
        before: text('Id of the message after the last one, or end.'),
        limit: number(`${LIMIT} if not given.`, 1, 500),
        ...VARIANT,
      }),
      reply: 'WindowReply',
      errors: ['session_not_found'],
    },
    async ({ param, query }) => {
      const { offset, around, after, before, limit = LIMIT, variant, inline } = query
      if ([offset, around, after, before].filter((one) => one !== undefined).length > 1)
        throw new ApiProblem(
          'invalid_parameters',
          phrase(
            'Give one of offset, around, after and before.',
            'offset・around・after・before のどれか 1 つを指定してください。',
          ),
        )
      const entry = view.session(param('id'))
      const where = {
        limit,
        ...(offset !== undefined && { offset }),
        ...(around !== undefined && { around }),
        ...(after !== undefined && { after }),
        ...(before === 'end' ? { end: true as const } : before !== undefined && { before }),
      }
      const window = await windowItems(view, entry, where, { variant, inline: inline === 'media' })
      const meta: WindowMeta = { offset: window.offset, total: window.total, revision: entry.revision }
      return { data: window.items satisfies readonly MessageItem[], meta }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/messages/{mid}',
      summary: 'One message, nothing cut',
      query: z.object(VARIANT),
      reply: 'MessageReply',
      errors: ['session_not_found', 'message_not_found'],
    },
    async ({ param, query: { variant, inline } }) => {
      const entry = view.session(param('id'))
      const item = await oneItem(view, entry, param('mid'), { variant, inline: inline === 'media' })
      if (!item) throw noMessage(entry, param('mid'))
      return { data: item, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/messages/{mid}/field',
      summary: 'One text of a message, whole',
      query: z.object({ name: z.string().max(100).openapi({ description: 'As left_out names it.' }) }),
      reply: 'text/plain',
      errors: ['session_not_found', 'message_not_found', 'source_gone'],
    },
    async ({ param, query }) => {
      const { message } = await bodyOf(view, view.session(param('id')), param('mid'))
      const found = fieldIn(message, query.name)
      if (found === undefined)
        throw new ApiProblem(
          'message_not_found',
          phrase(`The message has no ${query.name}.`, `このメッセージに ${query.name} はありません。`),
        )
      return new Response(found, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/messages/{mid}/request',
      summary: 'The request to which a message belongs, as the model saw it',
      description: 'Of Amazon Q, Kiro and our own conversations. Made again from what was recorded; see supposed.',
      reply: 'RequestReply',
      errors: ['session_not_found', 'message_not_found', 'not_possible'],
    },
    async ({ param }) => {
      const entry = view.session(param('id'))
      const id = param('mid')
      const [known] = view.house.index.messages(entry.id, { around: id, limit: 1 })
      if (known?.id !== id) throw noMessage(entry, id)
      const data = await requestItem(view.house, entry, known)
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
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/messages/{mid}/raw',
      summary: 'The record in the source',
      description: 'As it stands there, parsed. Ciphertext is told by its hash and length.',
      reply: 'RawReply',
      errors: ['session_not_found', 'message_not_found', 'source_gone'],
    },
    async ({ param }) => ({ data: await rawItem(view, view.session(param('id')), param('mid')), meta: {} }),
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/lines/{line}',
      summary: 'A line of the log, be it damaged',
      description: 'As it stands there: parsed, or as text where it is no JSON. Of a row, an entry that could be read.',
      reply: 'LineReply',
      errors: ['session_not_found', 'not_found', 'source_gone'],
    },
    async ({ param, signal }) => {
      const line = /^\d{1,12}$/.test(param('line')) ? Number(param('line')) : 0
      return { data: await lineItem(view, view.session(param('id')), line, signal), meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/media/{media}',
      summary: 'An image of a message',
      description: 'Only pictures made of dots: png, jpeg, gif, webp, avif, bmp.',
      reply: 'image/*',
      errors: ['not_found', 'source_gone'],
    },
    async ({ param }) => {
      const place = mediaPlace(param('media'))
      if (!place) throw new ApiProblem('not_found', NO_IMAGE)
      const { message } = await bodyOf(view, view.session(place.session), place.message)
      const image = imageIn(message.segments[place.segment]?.media)
      if (!image) throw new ApiProblem('not_found', NO_IMAGE)
      return new Response(new Uint8Array(image.bytes), {
        headers: {
          'content-type': image.type,
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'private, max-age=86400',
        },
      })
    },
  )
}

async function bodyOf(view: HouseView, entry: Entry, id: string): Promise<Extract<Body, { kind: 'body' }>> {
  const body = await view.house.message(entry.id, id)
  if (!body) throw noMessage(entry, id)
  if (body.kind === 'gone') throw sourceGone(body.reason)
  return body
}

const NO_IMAGE = phrase('There is no such image.', 'その画像はありません。')

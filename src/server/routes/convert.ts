/** `/api/convert` and `/api/handoff`: a conversation for another agent, its losses shown before anything is written. */

import { isAbsolute } from 'node:path'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { shellLine } from '../../agents/resume-command.ts'
import { formsToWrite, targetsOfHandoff } from '../../convert.ts'
import type { ConvertBody, HandoffItem, TargetItem } from '../../model/api/convert.ts'
import { phrase } from '../../model/phrase.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { ApiProblem } from '../problem.ts'
import { bytesOf } from '../view/byte-stream.ts'
import { fileName, fileOf, handedOver, previewOf } from '../view/convert/preview.ts'
import { Tickets } from '../view/convert/tickets.ts'

export function convertRoutes(app: OpenAPIHono, view: HouseView): void {
  const tickets = new Tickets<ConvertBody>()
  serve(
    app,
    { method: 'get', path: '/api/convert/targets', summary: 'What a conversation can become', reply: 'TargetsReply' },
    async () => ({ data: await targetItems(), meta: {} }),
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/convert',
      summary: 'What a conversation would become, and what would be lost',
      description: 'Writes nothing. The ticket in the reply leads to the file, and to handing it over.',
      body: z.object({
        session: z.string(),
        to: z.string(),
        without_extensions: z.boolean().optional(),
        max_tokens: z.number().int().min(1000).optional(),
        cwd: z.string().max(4096).refine(isAbsolute, 'an absolute path is needed').optional(),
      }),
      reply: 'ConvertReply',
      errors: ['session_not_found', 'source_gone', 'not_possible'],
    },
    async ({ body: { session, to, without_extensions, max_tokens, cwd } }) => {
      const body: ConvertBody = {
        session,
        to,
        ...(without_extensions !== undefined && { without_extensions }),
        ...(max_tokens !== undefined && { max_tokens }),
        ...(cwd !== undefined && { cwd }),
      }
      const preview = await previewOf(view.house, view.session(session), body)
      const ticket = tickets.give(body)
      return { data: { ...preview, ticket, download_url: `/api/convert/${ticket}` }, meta: {} }
    },
  )
  serve(
    app,
    {
      method: 'get',
      path: '/api/convert/{ticket}',
      summary: 'The file that a preview showed',
      reply: 'application/octet-stream',
      errors: ['not_found', 'session_not_found', 'source_gone'],
    },
    async ({ param, signal }) => {
      const wanted = given(tickets.show(param('ticket')))
      const entry = view.session(wanted.session)
      const name = await fileName(entry, wanted.to)
      return new Response(bytesOf(fileOf(view.house, entry, wanted), signal), {
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': `attachment; filename="${name}"`,
        },
      })
    },
  )
  serve(
    app,
    {
      method: 'post',
      path: '/api/handoff',
      summary: 'Put what a preview showed where its program goes on with it',
      description: 'Read there again and compared; when it reads otherwise, all is taken back.',
      body: z.object({ ticket: z.string(), replace: z.boolean().optional() }),
      reply: 'HandoffReply',
      errors: ['not_found', 'session_not_found', 'source_gone', 'not_possible'],
    },
    async ({ body: { ticket, replace } }) => {
      const wanted = given(tickets.take(ticket))
      const entry = view.session(wanted.session)
      const done = await handedOver(view.house, entry, wanted, { isDry: false, mayReplace: replace === true })
      const data: HandoffItem = {
        session: done.session.id,
        path: done.source.path,
        backup: done.backup ?? null,
        resume: done.resume ? shellLine(done.resume) : null,
        warnings: done.warnings,
      }
      return { data, meta: {} }
    },
  )
}

function given(body: ConvertBody | undefined): ConvertBody {
  if (!body)
    throw new ApiProblem(
      'not_found',
      phrase(
        'The preview is older than ten minutes. Ask for a new one.',
        '確認から 10 分以上たちました。もう一度、書き込む内容を確認してください。',
      ),
    )
  return body
}

async function targetItems(): Promise<readonly TargetItem[]> {
  const handed = await targetsOfHandoff()
  return (await formsToWrite()).map(({ name, label }) => ({ to: name, label, can_hand_off: handed.includes(name) }))
}

/** `/api/sessions/:id/export`: a conversation as a document to be saved. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { FORMATS } from '../../convert/export/formats.ts'
import { chunksOf } from '../../lib/disk/text-chunks.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../model/api/convert.ts'
import { phrase } from '../../model/phrase.ts'
import { type TurnRange, turnRangeIn } from '../../model/turn.ts'
import type { HouseView } from '../house-view.ts'
import { serve } from '../openapi/endpoint.ts'
import { flag, text } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { bytesOf } from '../view/byte-stream.ts'
import { materialOf } from '../view/session/material.ts'

const TYPES: { readonly [format in ExportFormat]: string } = {
  md: 'text/markdown',
  html: 'text/html',
  txt: 'text/plain',
  json: 'application/json',
  sft: 'application/jsonl',
}

export function exportRoutes(app: OpenAPIHono, view: HouseView): void {
  serve(
    app,
    {
      method: 'get',
      path: '/api/sessions/{id}/export',
      summary: 'A conversation as Markdown, HTML, text, JSON or training examples',
      query: z.object({
        format: z.enum(EXPORT_FORMATS).default('md'),
        turns: text('Only these turns: 3, 2..5, 4.. or ..3.'),
        all: flag('Every record, also context, events and copies.'),
        redact: flag('Secrets, user names, home directories and e-mail addresses are taken out.'),
      }),
      reply: 'application/octet-stream',
      errors: ['session_not_found', 'source_gone'],
    },
    async ({ param, query, signal }) => {
      const entry = view.session(param('id'))
      const turns = query.turns === undefined ? undefined : rangeOf(query.turns)
      const format = FORMATS[query.format]
      const material = await materialOf(view.house, entry, query.redact === true)
      const options = {
        ...(query.all && { all: true }),
        ...(turns && { turns }),
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      }
      const texts = (await format.load())(material, options)
      const name = `${entry.id.replaceAll(/[^\w.-]+/g, '_')}.${format.extension}`
      return new Response(bytesOf(chunksOf(texts), signal), {
        headers: {
          'content-type': `${TYPES[query.format]}; charset=utf-8`,
          'content-disposition': `attachment; filename="${name}"`,
          // The document brings its own style; opened from here it must still run nothing.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        },
      })
    },
  )
}

function rangeOf(given: string): TurnRange {
  const range = turnRangeIn(given)
  if (range) return range
  throw new ApiProblem(
    'invalid_parameters',
    phrase('turns: give them as 3, 2..5, 4.. or ..3.', 'turns は 3、2..5、4..、..3 のように指定してください。'),
    {
      invalid_fields: [{ field: 'turns', message: '3, 2..5, 4.. or ..3' }],
    },
  )
}

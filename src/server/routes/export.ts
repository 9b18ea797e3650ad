/** `/api/sessions/:id/export`: a conversation as a document to be saved. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { EXPORT_FORMAT_ENTRIES } from '../../convert/export/formats.ts'
import { batchTexts } from '../../lib/disk/text-chunks.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../model/api/convert.ts'
import { phrase } from '../../model/phrase.ts'
import { parseTurnRange, type TurnRange } from '../../model/turn.ts'
import type { ServerContext } from '../house-view.ts'
import { addEndpoint } from '../openapi/endpoint.ts'
import { flagParameter, textParameter } from '../openapi/parameters.ts'
import { ApiProblem } from '../problem.ts'
import { toByteStream } from '../view/byte-stream.ts'
import { readExportMaterial } from '../view/session/material.ts'

const MEDIA_TYPES: { readonly [format in ExportFormat]: string } = {
  md: 'text/markdown',
  html: 'text/html',
  txt: 'text/plain',
  json: 'application/json',
  sft: 'application/jsonl',
}

export function exportRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(
    api,
    {
      method: 'get',
      path: '/api/sessions/{id}/export',
      summary: 'A conversation as Markdown, HTML, text, JSON or training examples',
      query: z.object({
        format: z.enum(EXPORT_FORMATS).default('md'),
        turns: textParameter('Only these turns: 3, 2..5, 4.. or ..3.'),
        all: flagParameter('Every record, also context, events and copies.'),
        redact: flagParameter('Secrets, user names, home directories and e-mail addresses are taken out.'),
      }),
      reply: 'application/octet-stream',
      errors: ['session_not_found', 'source_gone'],
    },
    async ({ param, query, signal }) => {
      const entry = context.session(param('id'))
      const turns = query.turns === undefined ? undefined : parseTurns(query.turns)
      const format = EXPORT_FORMAT_ENTRIES[query.format]
      const material = await readExportMaterial(context.app, entry, query.redact === true)
      const options = {
        ...(query.all && { all: true }),
        ...(turns && { turns }),
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      }
      const texts = (await format.load())(material, options)
      const name = `${entry.id.replaceAll(/[^\w.-]+/g, '_')}.${format.extension}`
      return new Response(toByteStream(batchTexts(texts), signal), {
        headers: {
          'content-type': `${MEDIA_TYPES[query.format]}; charset=utf-8`,
          'content-disposition': `attachment; filename="${name}"`,
          // The document brings its own style; opened from here it must still run nothing.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        },
      })
    },
  )
}

function parseTurns(given: string): TurnRange {
  const range = parseTurnRange(given)
  if (range) return range
  throw new ApiProblem(
    'invalid_parameters',
    phrase('turns: give them as 3, 2..5, 4.. or ..3.', 'turns は 3、2..5、4..、..3 のように指定してください。'),
    {
      invalid_fields: [{ field: 'turns', message: '3, 2..5, 4.. or ..3' }],
    },
  )
}

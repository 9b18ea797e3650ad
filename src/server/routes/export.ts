/** `/api/sessions/:id/export`: a session as a document. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { App, SessionEntry } from '../../app.ts'
import type { ExportInput } from '../../export/export-input.ts'
import { EXPORT_FORMAT_ENTRIES } from '../../export/formats.ts'
import { OutlineCollector } from '../../export/outline.ts'
import { createRedaction } from '../../export/privacy.ts'
import { batchTexts } from '../../lib/text.ts'
import { withYields } from '../../lib/yield-loop.ts'
import { EXPORT_FORMATS, type ExportFormat } from '../../model/api/convert.ts'
import { AppError } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { phrase } from '../../model/phrase.ts'
import { parseTurnRange, type TurnRange } from '../../model/turn.ts'
import { KEEP_PEOPLE, peopleOnMachine } from '../../redact/people.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint, flagParameter, textParameter } from '../openapi/endpoint.ts'
import { toByteStream } from '../send-stream.ts'
import { toMarkItem } from '../view/session-item.ts'

const MEDIA_TYPES: { readonly [format in ExportFormat]: string } = {
  md: 'text/markdown',
  html: 'text/html',
  txt: 'text/plain',
  json: 'application/json',
  sft: 'application/jsonl',
}

export function exportRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(api, {
    method: 'get',
    path: '/api/sessions/{id}/export',
    summary: 'Export a session as Markdown, HTML, text, JSON or training examples',
    query: z.object({
      format: z.enum(EXPORT_FORMATS).default('md').openapi({ description: 'Format of the document.' }),
      turns: textParameter('Exports only these turns: 3, 2..5, 4.. or ..3.'),
      all: flagParameter('Includes all records: context, events and duplicates.'),
      redact: flagParameter(
        'True removes secrets, user names, home directories and email addresses; false nothing. Default: secrets only.',
      ),
    }),
    reply: 'application/octet-stream',
    errors: ['session_not_found', 'source_gone'],
    answer: async ({ param, query, signal }) => {
      const entry = context.session(param('id'))
      const turns = query.turns === undefined ? undefined : parseTurns(query.turns)
      const format = EXPORT_FORMAT_ENTRIES[query.format]
      const material = await readExportMaterial(context.app, entry, query.redact)
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
          // A document opened from here must not run scripts.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
        },
      })
    },
  })
}

function parseTurns(given: string): TurnRange {
  const range = parseTurnRange(given)
  if (range) return range
  throw new ApiProblem(
    'invalid_parameters',
    phrase('turns must look like 3, 2..5, 4.. or ..3.', 'turns は 3、2..5、4..、..3 のように指定してください。'),
    {
      invalid_fields: [{ field: 'turns', message: '3, 2..5, 4.. or ..3' }],
    },
  )
}

/** Reads the session once for its outline; the export reads it again while it is written. */
async function readExportMaterial(
  app: App,
  { id, agent, path }: SessionEntry,
  redact: boolean | undefined,
): Promise<ExportInput> {
  const log = await app.logOf(id)
  const session = app.index.header(id)
  if (!log || !session)
    throw new AppError(
      'not_found',
      `the log of ${id} is gone: ${path}. No backup exists.`,
      `会話 ${id} のログ ${path} がなくなっています。バックアップもありません。`,
    )
  const { agent: reader, source } = log
  const sessionMessages: NormalizedMessage[] = []
  async function* all(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(reader.read(source)))
      for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
  }
  const outliner = new OutlineCollector()
  for await (const message of all()) {
    if (message.raw.line_index === 0) sessionMessages.push(message)
    outliner.add(message)
  }
  /** Messages about the session itself, such as its header, come first. */
  async function* inOrder(): AsyncGenerator<NormalizedMessage> {
    yield* sessionMessages
    for await (const message of all()) if (message.raw.line_index > 0) yield message
  }
  const mark = app.annotations.get(id)
  const material: ExportInput = {
    session,
    agent,
    ...(mark && { mark: toMarkItem(mark) }),
    outline: outliner.outline(),
    messages: inOrder(),
  }
  if (redact === false) return material
  return createRedaction(redact ? peopleOnMachine(app.environment) : KEEP_PEOPLE).apply(material, inOrder)
}

/** `/api/sessions/:id/export`: a session as a document. */

import { Readable } from 'node:stream'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { agentName } from '../../agents/agent-roots.ts'
import type { App, SessionEntry } from '../../app.ts'
import type { ExportInput } from '../../export/export-input.ts'
import { EXPORT_FORMAT_ENTRIES } from '../../export/formats.ts'
import { OutlineCollector } from '../../export/outline.ts'
import { createRedaction } from '../../export/privacy.ts'
import { batchTexts } from '../../lib/text.ts'
import { withYields } from '../../lib/yield-loop.ts'
import { type ZipEntry, zipStream } from '../../lib/zip.ts'
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

/** A document opened from here must not run scripts. */
const DOCUMENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
/** More than a page shows at once. */
const MAX_EXPORTED = 1000

export function exportRoutes(api: OpenAPIHono, context: ServerContext): void {
  addEndpoint(api, {
    method: 'post',
    path: '/api/sessions/export',
    summary: 'Export several sessions as a ZIP file',
    description: 'One document per session. Sessions whose logs are gone are left out and listed in missing.txt.',
    body: z.strictObject({
      ids: z.array(z.string().min(1)).min(1).max(MAX_EXPORTED),
      format: z.enum(EXPORT_FORMATS).default('md'),
      all: z.boolean().default(false),
      redact: z.boolean().default(true),
    }),
    reply: 'application/zip',
    errors: ['session_not_found'],
    answer: ({ body: { ids, ...options }, signal }) => {
      const entries = [...new Set(ids)].map((id) => context.session(id))
      return new Response(toByteStream(zipStream(exportEntries(context.app, entries, options)), signal), {
        headers: {
          'content-type': 'application/zip',
          'content-disposition': 'attachment; filename="fumibako-sessions.zip"',
        },
      })
    },
  })
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
    answer: async ({ param, query: { turns: given, ...query }, signal }) => {
      const entry = context.session(param('id'))
      const turns = given === undefined ? undefined : parseTurns(given)
      const { name, pieces } = await exportEntry(context.app, entry, { ...query, ...(turns && { turns }) })
      return new Response(toByteStream(pieces, signal), {
        headers: {
          'content-type': `${MEDIA_TYPES[query.format]}; charset=utf-8`,
          'content-disposition': `attachment; filename="${name}"`,
          'content-security-policy': DOCUMENT_POLICY,
        },
      })
    },
  })
}

interface ExportOptions {
  readonly format: ExportFormat
  readonly all?: boolean
  readonly redact?: boolean
  readonly turns?: TurnRange
}

async function exportEntry(app: App, entry: SessionEntry, { format: name, all, redact, turns }: ExportOptions) {
  const format = EXPORT_FORMAT_ENTRIES[name]
  const material = await readExportMaterial(app, entry, redact)
  const texts = (await format.load())(material, {
    ...(all && { all }),
    ...(turns && { turns }),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  })
  return { name: `${entry.id.replaceAll(/[^\w.-]+/g, '_')}.${format.extension}`, pieces: batchTexts(texts) }
}

async function* exportEntries(
  app: App,
  entries: readonly SessionEntry[],
  options: ExportOptions,
): AsyncGenerator<ZipEntry> {
  const missing: string[] = []
  for (const entry of entries)
    try {
      yield await exportEntry(app, entry, options)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      missing.push(`${error.message}\n`)
    }
  if (missing.length > 0)
    yield { name: 'missing.txt', pieces: batchTexts(Readable.from(missing, { objectMode: true })) }
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

/** Reads the session once for its outline and its secrets; the export reads it again while it is written. */
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
      `The log of ${id} is gone: ${path}. No backup exists.`,
      `会話 ${id} のログ ${path} がなくなっています。バックアップもありません。`,
    )
  const { agent: reader, source } = log
  const sessionMessages: NormalizedMessage[] = []
  async function* all(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(reader.read(source)))
      for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
  }
  const privacy =
    redact === false ? undefined : createRedaction(redact ? peopleOnMachine(app.environment) : KEEP_PEOPLE)
  const outliner = new OutlineCollector()
  for await (const message of all()) {
    if (message.raw.line_index === 0) sessionMessages.push(message)
    outliner.add(message)
    await privacy?.learn(message)
  }
  /** Messages about the session itself, such as its header, come first. */
  async function* inOrder(): AsyncGenerator<NormalizedMessage> {
    yield* sessionMessages
    for await (const message of all()) if (message.raw.line_index > 0) yield message
  }
  const mark = app.annotations.get(id)
  const material: ExportInput = {
    session,
    agent: agentName(reader, agent),
    ...(mark && { mark: toMarkItem(mark) }),
    outline: outliner.outline(),
    messages: inOrder(),
  }
  return privacy ? privacy.apply(material, inOrder) : material
}

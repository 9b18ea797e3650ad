/** `/api/convert` and `/api/handoff`: converts a session for another agent and shows the losses before it writes anything. */

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { formatShellLine } from '../../agents/resume-command.ts'
import type { App, SessionEntry } from '../../app.ts'
import {
  type Conversion,
  type Cut,
  convertLog,
  formsToWrite,
  type HandedOver,
  handOver,
  type LogToConvert,
  targetsOfHandoff,
} from '../../convert.ts'
import type { ConvertBody, ConvertPreview, HandoffItem, HandoffPreview, TargetItem } from '../../model/api/convert.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { LruCache } from '../lru-cache.ts'
import { addEndpoint } from '../openapi/endpoint.ts'
import { toByteStream } from '../send-stream.ts'

export function convertRoutes(api: OpenAPIHono, context: ServerContext): void {
  const tickets = new PreviewTickets<ConvertBody>()
  addEndpoint(api, {
    method: 'get',
    path: '/api/convert/targets',
    summary: 'List conversion targets',
    reply: 'TargetsReply',
    answer: async () => ({ data: await listTargets(), meta: {} }),
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/convert',
    summary: 'Preview a conversion and its losses',
    description: 'Writes nothing. Use the ticket of the reply to download the file or to hand the session over.',
    body: z.object({
      session: z.string(),
      to: z.string(),
      without_extensions: z.boolean().optional(),
      max_tokens: z.number().int().min(1000).optional(),
      cwd: z.string().max(4096).refine(isAbsolute, 'must be an absolute path').optional(),
    }),
    reply: 'ConvertReply',
    errors: ['session_not_found', 'source_gone', 'not_possible'],
    answer: async ({ body }) => {
      const preview = await previewConversion(context.app, context.session(body.session), body)
      const ticket = tickets.issue(body)
      return { data: { ...preview, ticket, download_url: `/api/convert/${ticket}` }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/convert/{ticket}',
    summary: 'Download the file of a preview',
    reply: 'application/octet-stream',
    errors: ['not_found', 'session_not_found', 'source_gone'],
    answer: async ({ param, signal }) => {
      const wanted = requireTicket(tickets.peek(param('ticket')))
      const entry = context.session(wanted.session)
      const name = await convertedFileName(entry, wanted.to)
      return new Response(toByteStream(convertedBytes(context.app, entry, wanted), signal), {
        headers: {
          'content-type': 'application/octet-stream',
          'content-disposition': `attachment; filename="${name}"`,
        },
      })
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/handoff',
    summary: 'Hand a previewed session over to its program',
    description: 'Reads the written session back. If it does not read back identically, everything is rolled back.',
    body: z.object({ ticket: z.string(), replace: z.boolean().optional() }),
    reply: 'HandoffReply',
    errors: ['not_found', 'session_not_found', 'source_gone', 'not_possible'],
    answer: async ({ body: { ticket, replace } }) => {
      const wanted = requireTicket(tickets.take(ticket))
      const entry = context.session(wanted.session)
      const done = await handOverSession(context.app, entry, wanted, { isDry: false, mayReplace: replace === true })
      const data: HandoffItem = {
        session: done.session.id,
        path: done.source.path,
        backup: done.backup ?? null,
        resume: done.resume ? formatShellLine(done.resume) : null,
        warnings: done.warnings,
      }
      return { data, meta: {} }
    },
  })
}

function requireTicket(body: ConvertBody | undefined): ConvertBody {
  if (!body)
    throw new ApiProblem(
      'not_found',
      phrase(
        'The preview has expired after ten minutes. Request a new one.',
        '確認から 10 分以上たちました。もう一度、書き込む内容を確認してください。',
      ),
    )
  return body
}

async function listTargets(): Promise<readonly TargetItem[]> {
  const handed = await targetsOfHandoff()
  return (await formsToWrite()).map(({ name, label, label_ja }) => ({
    to: name,
    label,
    label_ja,
    can_hand_off: handed.includes(name),
  }))
}

type ConvertRequest = Omit<ConvertBody, 'session'>

async function previewConversion(
  app: App,
  entry: SessionEntry,
  wanted: ConvertRequest,
): Promise<Omit<ConvertPreview, 'ticket' | 'download_url'>> {
  let cut: Cut | undefined
  const conversion = await startConversion(app, entry, wanted, (one) => {
    cut = one
  })
  let bytes = 0
  for await (const piece of conversion.pieces) if (piece.kind === 'bytes') bytes += piece.bytes.length
  const { losses, repairs } = conversion.report()
  return {
    session: entry.id,
    to: wanted.to,
    file_name: await convertedFileName(entry, wanted.to),
    bytes,
    losses,
    repairs,
    cut: cut ? { turns_kept: cut.turns.kept, turns_summed_up: cut.turns.cut } : null,
    handoff: await previewHandoff(app, entry, wanted),
  }
}

async function* convertedBytes(app: App, entry: SessionEntry, wanted: ConvertRequest): AsyncGenerator<Uint8Array> {
  const { pieces } = await startConversion(app, entry, wanted)
  for await (const piece of pieces) if (piece.kind === 'bytes') yield piece.bytes
}

async function convertedFileName({ id }: SessionEntry, to: string): Promise<string> {
  const form = (await formsToWrite()).find(({ name }) => name === to)
  return `${id.replaceAll(/[^\w.-]+/g, '_')}${form?.suffix ?? '.json'}`
}

async function handOverSession(
  app: App,
  entry: SessionEntry,
  { to, ...wanted }: ConvertRequest,
  mode: { readonly isDry: boolean; readonly mayReplace: boolean },
): Promise<HandedOver> {
  const { environment, directory, backup } = app
  return handOver(await findLog(app, entry), to, {
    environment,
    directory,
    keep: backup,
    ...mode,
    ...limitsOf(wanted),
  })
}

async function startConversion(
  app: App,
  entry: SessionEntry,
  { to, without_extensions, ...wanted }: ConvertRequest,
  onCut?: (cut: Cut) => void,
): Promise<Conversion> {
  return convertLog(await findLog(app, entry), to, {
    withoutExtensions: without_extensions === true,
    ...limitsOf(wanted),
    ...(onCut && { onCut }),
  })
}

const limitsOf = ({ max_tokens, cwd }: Pick<ConvertRequest, 'max_tokens' | 'cwd'>) => ({
  ...(max_tokens !== undefined && { maxTokens: max_tokens }),
  ...(cwd !== undefined && { cwd }),
})

async function previewHandoff(app: App, entry: SessionEntry, wanted: ConvertRequest): Promise<HandoffPreview | null> {
  if (!(await targetsOfHandoff()).includes(wanted.to)) return null
  try {
    const done = await handOverSession(app, entry, wanted, { isDry: true, mayReplace: true })
    const { source, exchanges, isReplacement, warnings } = done
    return { possible: true, path: source.path, exchanges, replaces: isReplacement, warnings }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, phrase } = error
    return { possible: false, code, reason: phrase.en, reason_ja: phrase.ja }
  }
}

async function findLog(app: App, { id, path }: SessionEntry): Promise<LogToConvert> {
  const log = await app.logOf(id)
  if (!log)
    throw new AppError(
      'not_found',
      `The log of ${id} is gone: ${path}. No backup exists.`,
      `会話 ${id} のログ ${path} がなくなっています。バックアップもありません。`,
    )
  return { agent: log.agent, source: log.source, session: id }
}

/** A ticket proves that its preview was shown. It is valid for ten minutes. */
const MAX_TICKETS = 100
const TICKET_LIFETIME_MS = 600_000

export class PreviewTickets<Value> {
  readonly #issued = new LruCache<string, { readonly value: Value; readonly until: number }>(MAX_TICKETS)

  issue(value: Value): string {
    const ticket = randomBytes(18).toString('base64url')
    this.#issued.set(ticket, { value, until: performance.now() + TICKET_LIFETIME_MS })
    return ticket
  }

  peek(ticket: string): Value | undefined {
    const issued = this.#issued.get(ticket)
    return issued && issued.until > performance.now() ? issued.value : undefined
  }

  /** Invalidates the ticket. */
  take(ticket: string): Value | undefined {
    const value = this.peek(ticket)
    this.#issued.delete(ticket)
    return value
  }
}

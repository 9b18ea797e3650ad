/** `/api/convert` and `/api/handoff`: a conversation for another agent, its losses shown before anything is written. */

import { randomBytes } from 'node:crypto'
import { isAbsolute } from 'node:path'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { formatShellLine } from '../../agents/resume-command.ts'
import { formsToWrite, targetsOfHandoff } from '../../convert.ts'
import type { ConvertBody, HandoffItem, TargetItem } from '../../model/api/convert.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint } from '../openapi/endpoint.ts'
import { toByteStream } from '../view/byte-stream.ts'
import {
  convertedBytes,
  convertedFileName,
  handOverSession,
  previewConversion,
} from '../view/convert/conversion-preview.ts'
import { LruCache } from '../view/lru-cache.ts'

export function convertRoutes(api: OpenAPIHono, context: ServerContext): void {
  const tickets = new PreviewTickets<ConvertBody>()
  addEndpoint(api, {
    method: 'get',
    path: '/api/convert/targets',
    summary: 'What a conversation can become',
    reply: 'TargetsReply',
    answer: async () => ({ data: await listTargets(), meta: {} }),
  })
  addEndpoint(api, {
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
    answer: async ({ body: { session, to, without_extensions, max_tokens, cwd } }) => {
      const body: ConvertBody = {
        session,
        to,
        ...(without_extensions !== undefined && { without_extensions }),
        ...(max_tokens !== undefined && { max_tokens }),
        ...(cwd !== undefined && { cwd }),
      }
      const preview = await previewConversion(context.app, context.session(session), body)
      const ticket = tickets.issue(body)
      return { data: { ...preview, ticket, download_url: `/api/convert/${ticket}` }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'get',
    path: '/api/convert/{ticket}',
    summary: 'The file that a preview showed',
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
    summary: 'Put what a preview showed where its program goes on with it',
    description: 'Read there again and compared; when it reads otherwise, all is taken back.',
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
        'The preview is older than ten minutes. Ask for a new one.',
        '確認から 10 分以上たちました。もう一度、書き込む内容を確認してください。',
      ),
    )
  return body
}

async function listTargets(): Promise<readonly TargetItem[]> {
  const handed = await targetsOfHandoff()
  return (await formsToWrite()).map(({ name, label }) => ({ to: name, label, can_hand_off: handed.includes(name) }))
}

/** What was shown to somebody before it is done: a paper that says so, good for ten minutes. */
const MAX_TICKETS = 100
const TICKET_LIFETIME_MS = 600_000

export class PreviewTickets<Value> {
  readonly #issued = new LruCache<string, { readonly value: Value; readonly until: number }>(MAX_TICKETS)

  issue(value: Value): string {
    const ticket = randomBytes(18).toString('base64url')
    this.#issued.set(ticket, { value, until: performance.now() + TICKET_LIFETIME_MS })
    return ticket
  }

  /** Nothing when nobody has it, or no longer. */
  peek(ticket: string): Value | undefined {
    const issued = this.#issued.get(ticket)
    return issued && issued.until > performance.now() ? issued.value : undefined
  }

  /** Good once. */
  take(ticket: string): Value | undefined {
    const value = this.peek(ticket)
    this.#issued.delete(ticket)
    return value
  }
}

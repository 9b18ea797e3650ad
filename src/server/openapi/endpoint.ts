/** Declares endpoints and their parameters: one declaration checks requests and documents the API. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type App, parsePeriod, type SessionFilter, type UnknownName } from '../../app.ts'
import type { ApiErrorCode, FilterWarning } from '../../model/api/envelope.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { phrase } from '../../model/phrase.ts'
import { API_ERRORS, ApiProblem } from '../api-problem.ts'

interface ApiEndpoint<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put'
  /** With parameters as `{name}`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly query?: Query
  readonly body?: Body
  /** A type of `model/api`, or a media type if the reply is not JSON. */
  readonly reply: string
  readonly status?: 200 | 202
  readonly errors?: readonly ApiErrorCode[]
  /** Returns the JSON reply, or a response. */
  answer(request: EndpointRequest<Given<z.output<Query>>, Given<z.output<Body>>>): object | Promise<object>
}

/** Checked input has no undefined fields: an optional field is missing. */
export type Given<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

interface EndpointRequest<Query, Body> {
  readonly c: Context
  readonly query: Query
  readonly body: Body
  param(name: string): string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export function addEndpoint<Query extends z.ZodObject, Body extends z.ZodType>(
  api: OpenAPIHono,
  endpoint: ApiEndpoint<Query, Body>,
): void {
  const { method, path, query, body, status = 200 } = endpoint
  api.openAPIRegistry.registerPath(toPathConfig(endpoint))
  api.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    const result = await endpoint.answer({
      c,
      query: checkQuery(query ?? EMPTY_QUERY, c.req.query()) as Given<z.output<Query>>,
      body: (body ? checkInput(body, await readJsonBody(c)) : undefined) as Given<z.output<Body>>,
      param: (name) => c.req.param(name) ?? '',
      signal: c.req.raw.signal,
    })
    return result instanceof Response ? result : c.json(result, status)
  })
}

const EMPTY_QUERY = z.object({})

function checkQuery(schema: z.ZodObject, given: Readonly<Record<string, string>>): unknown {
  const known = Object.keys(schema.shape)
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    const nearest = nearestName(name, known)
    throw new ApiProblem(
      'invalid_parameters',
      phrase(
        `Unknown parameter "${name}".${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
        `「${name}」というパラメーターはありません。${nearest === undefined ? '' : `${nearest} のことですか？`}`,
      ),
      { invalid_fields: [{ field: name, message: 'is unknown' }], name, nearest: nearest ?? null },
    )
  }
  return checkInput(schema, given)
}

function checkInput(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const invalid_fields = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  const detail = invalid_fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
  throw new ApiProblem('invalid_parameters', phrase(detail, `指定に誤りがあります（${detail}）。`), { invalid_fields })
}

async function readJsonBody(c: Context): Promise<unknown> {
  try {
    return await c.req.json()
  } catch {
    throw new ApiProblem(
      'invalid_parameters',
      phrase('The request body is not valid JSON.', 'リクエストの本文が正しい JSON ではありません。'),
    )
  }
}

type PathConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

function toPathConfig<Query extends z.ZodObject, Body extends z.ZodType>(
  endpoint: ApiEndpoint<Query, Body>,
): PathConfig {
  const { method, path, summary, description, query, body, reply, status = 200, errors = [] } = endpoint
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => [name, z.string()] as const)
  const content = reply.includes('/')
    ? { [reply]: { schema: { type: 'string' as const } } }
    : { 'application/json': { schema: { $ref: `#/components/schemas/${reply}` } } }
  return {
    method,
    path,
    summary,
    ...(description !== undefined && { description }),
    request: {
      ...(names.length > 0 && { params: z.object(Object.fromEntries(names)) }),
      ...(query && { query }),
      ...(body && { body: { required: true, content: { 'application/json': { schema: body } } } }),
    },
    responses: {
      [status]: { description: 'Success.', content },
      ...Object.fromEntries(groupByStatus([...errors, ...(query || body ? (['invalid_parameters'] as const) : [])])),
    },
  }
}

/** Several codes may have one status. */
function groupByStatus(codes: readonly ApiErrorCode[]): ReadonlyMap<number, PathConfig['responses'][string]> {
  const byStatus = new Map<number, ApiErrorCode[]>()
  for (const code of new Set(codes))
    byStatus.set(API_ERRORS[code][0], [...(byStatus.get(API_ERRORS[code][0]) ?? []), code])
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorReply' } } }
  return new Map(Array.from(byStatus, ([status, of]) => [status, { description: of.join(', '), content }]))
}

export const flagParameter = (what: string) =>
  z
    .enum(['1', 'true', '0', 'false'])
    .transform((text) => text === '1' || text === 'true')
    .optional()
    .openapi({ description: what })

export const numberParameter = (what: string, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).optional().openapi({ description: what })

export const textParameter = (what: string) => z.string().min(1).max(2000).optional().openapi({ description: what })

export const FILTER_PARAMETERS = {
  agent: textParameter('Ids of agents, comma-separated.'),
  project: textParameter('A directory and everything below it. Without a slash: any directory with this name.'),
  model: textParameter('A model; * matches anything.'),
  tool: textParameter('Only sessions that call this tool.'),
  since: textParameter('First day or moment: 2026-11-15, today, 7d, or a timestamp.'),
  until: textParameter('Last day or moment; a day is included to its end.'),
  start_date: textParameter('Alias of since.'),
  end_date: textParameter('Alias of until.'),
}

type FilterValues = { readonly [name in keyof typeof FILTER_PARAMETERS]?: string | undefined }

export function parseSessionFilter(values: FilterValues): SessionFilter {
  const { agent, project, model, tool } = values
  const from = parseMoment('since', values.since ?? values.start_date, 'from')
  const until = parseMoment('until', values.until ?? values.end_date, 'until')
  if (from !== undefined && until !== undefined && from >= until)
    throw new ApiProblem(
      'invalid_period',
      phrase(
        'The period ends before it starts. Give a since that is earlier than until.',
        '期間の終わりが始まりより前です。since には until より前の日時を指定してください。',
      ),
    )
  return {
    ...(agent !== undefined && { agents: agent.split(',') }),
    ...(project !== undefined && { project }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { tool }),
    ...(from !== undefined && { since: from }),
    ...(until !== undefined && { until }),
  }
}

/**
 * Names in filters that match nothing: throws for an agent, and returns warnings for the others.
 * @param query text of a search
 */
export async function checkNames(
  app: App,
  { agent, project, model, tool, tag }: FilterValues & { readonly tag?: string | undefined },
  query?: string,
): Promise<readonly FilterWarning[]> {
  const unknown = await app.unknownNames(
    {
      ...(agent !== undefined && { agents: agent.split(',') }),
      ...(project !== undefined && { project }),
      ...(model !== undefined && { model }),
      ...(tool !== undefined && { tool }),
      tag,
    },
    query,
  )
  for (const one of unknown) if (one.kind === 'agent') throw toNameProblem(one)
  return unknown.map(({ kind, name, nearest, text: { en, ja } }) => ({
    filter: kind,
    name,
    nearest: nearest ?? null,
    detail: en,
    detail_ja: ja,
  }))
}

function toNameProblem({ text, name, nearest, range }: UnknownName): ApiProblem {
  const names = { name, nearest: nearest ?? null }
  if (range) return new ApiProblem('invalid_query', text, { code: 'filter_value', ...range, ...names })
  return new ApiProblem('invalid_parameters', text, {
    invalid_fields: [{ field: 'agent', message: 'is unknown' }],
    ...names,
  })
}

/** A parameter as a filter of the query language; empty without a value. */
export function filterText(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (value.includes('"'))
    throw new ApiProblem(
      'invalid_parameters',
      phrase(`${name} must not contain quotation marks.`, `${name} に引用符は使えません。`),
    )
  return `${name}:"${value}"`
}

function parseMoment(name: string, given: string | undefined, end: 'from' | 'until'): number | undefined {
  if (given === undefined) return undefined
  const period = parsePeriod(given, new Date())
  if (!period)
    throw new ApiProblem(
      'invalid_period',
      phrase(
        `${name} must be a day or a moment, such as 2026-11-15, today, 7d or 12h.`,
        `${name} には日付か日時を指定してください：2026-11-15、today、7d、12h など。`,
      ),
      { invalid_fields: [{ field: name, message: 'must be a day or a moment' }] },
    )
  return Date.parse(period[end])
}

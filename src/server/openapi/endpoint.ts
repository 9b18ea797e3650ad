/** One way to say what an endpoint takes and gives: the same words check requests and write the document. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ApiErrorCode } from '../../model/api/envelope.ts'
import { phrase } from '../../model/phrase.ts'
import { API_ERRORS, ApiProblem } from '../api-problem.ts'

export interface ApiEndpoint<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put'
  /** With `{name}` for the parts that vary. */
  readonly path: string
  readonly summary: string
  /** What the name does not say, in sentences. */
  readonly description?: string
  readonly query?: Query
  readonly body?: Body
  /** The name of the reply's type in `model/api`, or its media type where it is no JSON. */
  readonly reply: string
  readonly status?: 200 | 202
  readonly errors?: readonly ApiErrorCode[]
  /** Returns the reply as it is sent, or a response of its own. */
  answer(request: EndpointRequest<z.output<Query>, z.output<Body>>): object | Promise<object>
}

export interface EndpointRequest<Query, Body> {
  readonly c: Context
  readonly query: Query
  readonly body: Body
  /** A part of the path. */
  param(name: string): string
  /** Of the client: it has gone away. */
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
      query: checkInput(query ?? EMPTY_QUERY, c.req.query()) as z.output<Query>,
      body: (body ? checkInput(body, await readJsonBody(c)) : undefined) as z.output<Body>,
      param: (name) => c.req.param(name) ?? '',
      signal: c.req.raw.signal,
    })
    return result instanceof Response ? result : c.json(result, status)
  })
}

const EMPTY_QUERY = z.object({})

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
    throw new ApiProblem('invalid_parameters', phrase('The body is no JSON.', '本文が JSON ではありません。'))
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
      [status]: { description: 'It went well.', content },
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

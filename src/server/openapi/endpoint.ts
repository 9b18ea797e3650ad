/** One way to say what an endpoint takes and gives: the same words check requests and write the document. */

import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ApiErrorCode } from '../../model/api/envelope.ts'
import { phrase } from '../../model/phrase.ts'
import { ApiProblem, ERRORS } from '../problem.ts'

export interface Endpoint<Query extends z.ZodObject, Body extends z.ZodType> {
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
}

export interface Request<Query, Body> {
  readonly c: Context
  readonly query: Query
  readonly body: Body
  /** A part of the path. */
  param(name: string): string
  /** Of the client: it has gone away. */
  readonly signal: AbortSignal
}

/** @param answer gives the reply as it is sent, or a response of its own */
export function serve<Query extends z.ZodObject, Body extends z.ZodType>(
  app: OpenAPIHono,
  endpoint: Endpoint<Query, Body>,
  answer: (request: Request<z.output<Query>, z.output<Body>>) => object | Promise<object>,
): void {
  const { method, path, query, body, status = 200 } = endpoint
  app.openAPIRegistry.registerPath(pathOf(endpoint))
  app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
    const result = await answer({
      c,
      query: checked(query ?? NOTHING, c.req.query()) as z.output<Query>,
      body: (body ? checked(body, await jsonOf(c)) : undefined) as z.output<Body>,
      param: (name) => c.req.param(name) ?? '',
      signal: c.req.raw.signal,
    })
    return result instanceof Response ? result : c.json(result, status)
  })
}

const NOTHING = z.object({})

function checked(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const invalid_fields = parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  const detail = invalid_fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
  throw new ApiProblem('invalid_parameters', phrase(detail, `指定に誤りがあります（${detail}）。`), { invalid_fields })
}

async function jsonOf(c: Context): Promise<unknown> {
  try {
    return await c.req.json()
  } catch {
    throw new ApiProblem('invalid_parameters', phrase('The body is no JSON.', '本文が JSON ではありません。'))
  }
}

type PathConfig = Parameters<OpenAPIHono['openAPIRegistry']['registerPath']>[0]

function pathOf<Query extends z.ZodObject, Body extends z.ZodType>(endpoint: Endpoint<Query, Body>): PathConfig {
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
      ...Object.fromEntries(grouped([...errors, ...(query || body ? (['invalid_parameters'] as const) : [])])),
    },
  }
}

/** Several codes may have one status. */
function grouped(codes: readonly ApiErrorCode[]): ReadonlyMap<number, PathConfig['responses'][string]> {
  const byStatus = new Map<number, ApiErrorCode[]>()
  for (const code of new Set(codes)) byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code])
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorReply' } } }
  return new Map(Array.from(byStatus, ([status, of]) => [status, { description: of.join(', '), content }]))
}

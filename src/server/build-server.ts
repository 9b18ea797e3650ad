/** Builds the server as one function from requests to responses. `listen.ts` opens the port. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, Next } from 'hono'
import { type App, IndexDamagedError } from '../app.ts'
import { warn } from '../lib/logger.ts'
import { phrase } from '../model/phrase.ts'
import { ApiProblem, toApiProblem, toProblemResponse } from './api-problem.ts'
import { OpenChats, type OpenChatsOptions } from './chat/open-chats.ts'
import { ServerContext } from './context.ts'
import { type AccessOptions, checkAccess, MEMORY_PATH, SIGN_IN_PATH } from './guard/check-access.ts'
import {
  addSecurityHeaders,
  checkOrigin,
  checkRequestTarget,
  limitBodySize,
  limitImportSize,
  limitRate,
  type OriginOptions,
  type RateBucketOptions,
} from './guard/check-request.ts'
import { IndexWatcher, type IndexWatcherOptions } from './index-watcher.ts'
import { buildApiDocument } from './openapi/document.ts'
import { servePage } from './page-files.ts'
import { chatRoutes } from './routes/chat.ts'
import { convertRoutes } from './routes/convert.ts'
import { exportRoutes } from './routes/export.ts'
import { machineRoutes } from './routes/machine.ts'
import { memoryRoutes } from './routes/memory.ts'
import { messageRoutes } from './routes/messages.ts'
import { recallRoutes } from './routes/recall.ts'
import { searchRoutes } from './routes/search.ts'
import { secretRoutes } from './routes/secrets.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { setupRoutes } from './routes/setup.ts'
import { statsRoutes } from './routes/stats.ts'
import { turnRoutes } from './routes/turns.ts'

export interface ServerOptions
  extends OriginOptions,
    Omit<AccessOptions, 'port'>,
    IndexWatcherOptions,
    Pick<OpenChatsOptions, 'cwd' | 'linger'> {
  /** Folder of the built page. */
  readonly page: string
  readonly version: string
  readonly rate?: RateBucketOptions
}

interface BuiltServer {
  readonly api: OpenAPIHono
  start(): Promise<void>
  close(): Promise<void>
}

/** Their body is a file. */
const FILE_ROUTES = /^\/api\/(?:imports|chat\/[^/]+\/attachments)$/

/** A page that scrolls fast requests dozens of windows per second. */
const DEFAULT_RATE: RateBucketOptions = { burst: 1000, perSecond: 200 }

const ROUTES = [
  sessionRoutes,
  messageRoutes,
  turnRoutes,
  searchRoutes,
  recallRoutes,
  statsRoutes,
  exportRoutes,
  secretRoutes,
  convertRoutes,
  machineRoutes,
  setupRoutes,
]

const gzipAsync = promisify(gzip)
/** Smaller replies fit into one packet anyway. */
const MIN_COMPRESSED_BYTES = 1400

/** Compresses JSON replies. Streams are left alone: a compressor would hold their lines back. */
async function compressJson(c: Context, next: Next): Promise<void> {
  await next()
  const { res } = c
  const isJson = res.headers.get('content-type')?.startsWith('application/json') === true
  if (!isJson || c.req.method === 'HEAD' || !/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return
  if (res.headers.has('content-encoding') || res.headers.has('content-disposition')) return
  const bytes = new Uint8Array(await res.arrayBuffer())
  if (bytes.length < MIN_COMPRESSED_BYTES) {
    c.res = new Response(bytes, res)
    return
  }
  const headers = new Headers(res.headers)
  headers.set('content-encoding', 'gzip')
  headers.append('vary', 'accept-encoding')
  headers.delete('content-length')
  c.res = new Response(await gzipAsync(bytes, { level: 1 }), { status: res.status, headers })
}

export function buildServer(app: App, options: ServerOptions): BuiltServer {
  const indexWatcher = new IndexWatcher(app, options)
  const context = new ServerContext(app, indexWatcher, options.version)
  const chats = new OpenChats(app, options)
  const api = new OpenAPIHono()
  /** Each request is retried at most once. */
  const repeated = new WeakSet<Request>()
  api.onError(async (error, c) => {
    const { raw } = c.req
    if (
      error instanceof IndexDamagedError &&
      raw.method === 'GET' &&
      !repeated.has(raw) &&
      (await indexWatcher.repair())
    ) {
      repeated.add(raw)
      return api.fetch(raw, c.env)
    }
    const problem = toApiProblem(error)
    if (problem.code === 'internal_error') warn(error.stack ?? error.message)
    return toProblemResponse(problem)
  })
  api.notFound((c) =>
    toProblemResponse(
      new ApiProblem(
        'not_found',
        phrase(
          `No endpoint at ${c.req.path}. See /api/openapi.json for all endpoints.`,
          `${c.req.path} というエンドポイントはありません。一覧は /api/openapi.json にあります。`,
        ),
      ),
    ),
  )
  api.use(addSecurityHeaders)
  api.use(checkRequestTarget)
  api.use(checkOrigin(options))
  api.use(limitRate(options.rate ?? DEFAULT_RATE))
  api.use(SIGN_IN_PATH, limitBodySize)
  api.use(checkAccess(options))
  api.use('/api/*', (c, next) => (FILE_ROUTES.test(c.req.path) ? limitImportSize : limitBodySize)(c, next))
  api.use(MEMORY_PATH, limitBodySize)
  api.use('/api/*', compressJson)
  for (const addRoutes of ROUTES) addRoutes(api, context)
  chatRoutes(api, context, chats)
  const memory = memoryRoutes(api, context)
  api.get('/api/openapi.json', (c) => c.json(buildApiDocument(api, options.version)))
  api.use(servePage(options.page))
  return {
    api,
    start: () => indexWatcher.start(),
    async close() {
      await chats.close()
      await memory.close()
      await indexWatcher.close()
    },
  }
}

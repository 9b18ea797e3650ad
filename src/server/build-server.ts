/** The server as one function from requests to answers. It opens no port: who listens, and where, is not its matter. */

import { OpenAPIHono } from '@hono/zod-openapi'
import { type App, IndexDamagedError } from '../app.ts'
import { warn } from '../lib/logger.ts'
import { phrase } from '../model/phrase.ts'
import { ApiProblem, toApiProblem, toProblemResponse } from './api-problem.ts'
import { OpenChats, type OpenChatsOptions } from './chat/open-chats.ts'
import { ServerContext } from './context.ts'
import { type AccessOptions, checkAccess } from './guard/check-access.ts'
import { checkOrigin, type OriginOptions } from './guard/check-origin.ts'
import { checkRequestTarget } from './guard/check-target.ts'
import { limitBodySize, limitRate, type RateBucketOptions } from './guard/limits.ts'
import { addSecurityHeaders } from './guard/security-headers.ts'
import { SIGN_IN_PATH } from './guard/sign-in-page.ts'
import { IndexWatcher, type IndexWatcherOptions } from './index-watcher.ts'
import { buildApiDocument } from './openapi/document.ts'
import { servePage } from './page-files.ts'
import { chatRoutes } from './routes/chat.ts'
import { convertRoutes } from './routes/convert.ts'
import { exportRoutes } from './routes/export.ts'
import { machineRoutes } from './routes/machine.ts'
import { messageRoutes } from './routes/messages.ts'
import { searchRoutes } from './routes/search.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { statsRoutes } from './routes/stats.ts'
import { turnRoutes } from './routes/turns.ts'

export interface ServerOptions
  extends OriginOptions,
    Omit<AccessOptions, 'port'>,
    IndexWatcherOptions,
    Pick<OpenChatsOptions, 'cwd' | 'linger'> {
  /** Where the page was built. */
  readonly page: string
  readonly version: string
  readonly rate?: RateBucketOptions
}

export interface BuiltServer {
  readonly api: OpenAPIHono
  /** Begins to keep the index up to date. */
  start(): Promise<void>
  close(): Promise<void>
}

/** A page that scrolls fast asks for a few dozen windows in a second. */
const DEFAULT_RATE: RateBucketOptions = { burst: 1000, perSecond: 200 }

export function buildServer(app: App, options: ServerOptions): BuiltServer {
  const indexWatcher = new IndexWatcher(app, options)
  const context = new ServerContext(app, indexWatcher, options.version)
  const chats = new OpenChats(app, options)
  const api = new OpenAPIHono()
  /** Requests that are answered for the second time. */
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
      new ApiProblem('not_found', phrase(`There is nothing at ${c.req.path}.`, `${c.req.path} には何もありません。`)),
    ),
  )
  api.use(addSecurityHeaders)
  api.use(checkRequestTarget)
  api.use(checkOrigin(options))
  api.use(limitRate(options.rate ?? DEFAULT_RATE))
  api.use(SIGN_IN_PATH, limitBodySize)
  api.use(checkAccess(options))
  api.use('/api/*', limitBodySize)
  addRoutes(api, context)
  chatRoutes(api, context, chats)
  api.get('/api/openapi.json', (c) => c.json(buildApiDocument(api, options.version)))
  api.use(servePage(options.page))
  return {
    api,
    start: () => indexWatcher.start(),
    async close() {
      await chats.close()
      await indexWatcher.close()
    },
  }
}

export function addRoutes(api: OpenAPIHono, context: ServerContext): void {
  sessionRoutes(api, context)
  messageRoutes(api, context)
  turnRoutes(api, context)
  searchRoutes(api, context)
  statsRoutes(api, context)
  exportRoutes(api, context)
  convertRoutes(api, context)
  machineRoutes(api, context)
}

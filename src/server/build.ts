/** The server as one function from requests to answers. It opens no port: who listens, and where, is not its matter. */

import { OpenAPIHono } from '@hono/zod-openapi'
import { type House, IndexDamagedError } from '../app.ts'
import { warn } from '../lib/log.ts'
import { phrase } from '../model/phrase.ts'
import { Talks, type TalksOptions } from './chat/talks.ts'
import { type AccessOptions, access } from './guard/access.ts'
import { safeHeaders } from './guard/headers.ts'
import { type BucketOptions, rateLimit, smallBodies } from './guard/limits.ts'
import { checkOrigin, type OriginOptions } from './guard/origin.ts'
import { SIGN_IN_PATH } from './guard/sign-in-page.ts'
import { checkTarget } from './guard/target.ts'
import { HouseView } from './house-view.ts'
import { Attendant, type AttendantOptions } from './live/attendant.ts'
import { Hub } from './live/hub.ts'
import { documentOf } from './openapi/document.ts'
import { page } from './page.ts'
import { ApiProblem, problemOf, problemResponse } from './problem.ts'
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
    AttendantOptions,
    Pick<TalksOptions, 'cwd' | 'linger'> {
  /** Where the page was built. */
  readonly page: string
  readonly version: string
  readonly rate?: BucketOptions
}

export interface Server {
  readonly app: OpenAPIHono
  readonly hub: Hub
  /** Begins to keep the index up to date. */
  start(): Promise<void>
  close(): Promise<void>
}

/** A page that scrolls fast asks for a few dozen windows in a second. */
const RATE: BucketOptions = { burst: 1000, perSecond: 200 }

export function buildServer(house: House, options: ServerOptions): Server {
  const hub = new Hub()
  const attendant = new Attendant(house, hub, options)
  const view = new HouseView(house, hub, attendant, options.version)
  const talks = new Talks(house, options)
  const app = new OpenAPIHono()
  /** Requests that are answered for the second time. */
  const repeated = new WeakSet<Request>()
  app.onError(async (error, c) => {
    const { raw } = c.req
    if (error instanceof IndexDamagedError && raw.method === 'GET' && !repeated.has(raw) && (await attendant.heal())) {
      repeated.add(raw)
      return app.fetch(raw, c.env)
    }
    const problem = problemOf(error)
    if (problem.code === 'internal_error') warn(error.stack ?? error.message)
    return problemResponse(problem)
  })
  app.notFound((c) =>
    problemResponse(
      new ApiProblem('not_found', phrase(`There is nothing at ${c.req.path}.`, `${c.req.path} には何もありません。`)),
    ),
  )
  app.use(safeHeaders)
  app.use(checkTarget)
  app.use(checkOrigin(options))
  app.use(rateLimit(options.rate ?? RATE))
  app.use(SIGN_IN_PATH, smallBodies)
  app.use(access(options))
  app.use('/api/*', smallBodies)
  addRoutes(app, view)
  chatRoutes(app, view, talks)
  app.get('/api/openapi.json', (c) => c.json(documentOf(app, options.version)))
  app.use(page(options.page))
  return {
    app,
    hub,
    start: () => attendant.start(),
    async close() {
      await talks.close()
      await attendant.close()
    },
  }
}

export function addRoutes(app: OpenAPIHono, view: HouseView): void {
  sessionRoutes(app, view)
  messageRoutes(app, view)
  turnRoutes(app, view)
  searchRoutes(app, view)
  statsRoutes(app, view)
  exportRoutes(app, view)
  convertRoutes(app, view)
  machineRoutes(app, view)
}

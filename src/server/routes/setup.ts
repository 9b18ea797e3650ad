/** What a user sets up on the page: imported logs, further folders, model servers. */
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Agent } from '../../agents/agent.ts'
import { agentIdsOf } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import type { App } from '../../app.ts'
import { sha256 } from '../../lib/hash.ts'
import type { ImportItem } from '../../model/api/setup.ts'
import { AppError } from '../../model/error.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { ApiProblem } from '../api-problem.ts'
import type { ServerContext } from '../context.ts'
import { addEndpoint } from '../openapi/endpoint.ts'

const MAX_NAMED_SESSIONS = 50

export function setupRoutes(api: OpenAPIHono, { app, indexWatcher }: ServerContext): void {
  addEndpoint(api, {
    method: 'post',
    path: '/api/imports',
    summary: 'Import a log',
    description:
      'The body is the file itself, up to 64 MB. It is stored in the data directory and read like any other log of its agent. Importing the same file again changes nothing.',
    query: z.object({ name: z.string().min(1).max(300).openapi({ description: 'Name of the file.' }) }),
    reply: 'ImportReply',
    errors: ['body_too_large', 'not_possible'],
    answer: async ({ c, query }) => {
      const bytes = new Uint8Array(await c.req.arrayBuffer())
      const { agent, path, sessions } = await storeImport(app, query.name, bytes)
      const isNew = await addRoot(app, agent.id, join(app.directory, 'imports', agent.id))
      await (isNew ? indexWatcher.readSettingsAgain() : indexWatcher.syncNow())
      const data: ImportItem = { agent: agent.id, path, sessions }
      return { data, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/agents/{id}/folders',
    summary: 'Add a folder with logs of an agent',
    body: z.strictObject({ path: z.string().min(1).max(4096) }),
    reply: 'FolderReply',
    errors: ['not_found', 'not_possible'],
    answer: async ({ param, body }) => {
      const agent = (await allAgents()).find((one) => agentIdsOf(one).includes(param('id')))
      if (!agent)
        throw new ApiProblem(
          'not_found',
          phrase(
            `Unknown agent "${param('id')}". GET /api/agents lists all.`,
            `「${param('id')}」というエージェントはありません。一覧は GET /api/agents にあります。`,
          ),
        )
      const path = /^~(?=[/\\]|$)/.test(body.path) ? join(app.environment.home, body.path.slice(1)) : body.path
      if (!isAbsolute(path) || !existsSync(path))
        throw invalidField(
          'path',
          phrase(
            `${path} does not exist. Give the absolute path of a folder, or one that starts with ~/.`,
            `${path} はありません。フォルダーの絶対パスか、~/ で始まるパスを指定してください。`,
          ),
        )
      if (!statSync(path).isDirectory())
        throw invalidField(
          'path',
          phrase(`${path} is a file. Give its folder.`, `${path} はファイルです。フォルダーを指定してください。`),
        )
      await addRoot(app, param('id'), path)
      await indexWatcher.readSettingsAgain()
      return { data: { agent: param('id'), path }, meta: {} }
    },
  })
  addEndpoint(api, {
    method: 'post',
    path: '/api/profiles',
    summary: 'Add or change a model server',
    description: 'Writes the profile to the settings file. The key is stored there and never returned.',
    body: z.strictObject({
      name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/i),
      url: z.url({ protocol: /^https?$/ }).max(2000),
      model: z.string().min(1).max(200),
      key: z.string().min(1).max(1000).optional(),
    }),
    reply: 'ProfileReply',
    errors: ['not_possible'],
    answer: async ({ body: { name, ...values } }) => {
      for (const [field, value] of Object.entries(values)) await app.configure(`profiles.${name}.${field}`, [value])
      return { data: { name, url: values.url, model: values.model }, meta: {} }
    },
  })
}

const invalidField = (field: string, detail: Phrase): ApiProblem =>
  new ApiProblem('invalid_parameters', detail, { invalid_fields: [{ field, message: detail.en }] })

/** @returns false if it was there */
async function addRoot(app: App, agent: string, path: string): Promise<boolean> {
  const { agents } = await app.config()
  const roots = agents.get(agent)?.roots ?? []
  if (roots.includes(path)) return false
  await app.configure(`agents.${agent}.roots`, [...roots, path])
  return true
}

interface StoredImport {
  readonly agent: Agent
  readonly path: string
  readonly sessions: readonly string[]
}

/** Only logs that an agent recognizes are kept. */
async function storeImport(app: App, name: string, bytes: Uint8Array): Promise<StoredImport> {
  const imports = join(app.directory, 'imports')
  const digest = sha256(bytes).slice(0, 12)
  const incoming = join(imports, `incoming-${digest}`)
  const safeName = basename(name.replaceAll('\\', '/')).replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
  try {
    mkdirSync(incoming, { recursive: true, mode: 0o700 })
    const received = join(incoming, safeName)
    writeFileSync(received, bytes, { mode: 0o600 })
    const recognized = await recognize(app, received)
    if (!recognized)
      throw new ApiProblem(
        'invalid_parameters',
        phrase(
          `${safeName} is not a log of a known agent. fumi detect says what fumibako reads.`,
          `${safeName} は、対応しているエージェントのログではありません。読める形式は fumi detect で確認できます。`,
        ),
        { invalid_fields: [{ field: 'body', message: 'is no known log' }] },
      )
    const { agent, sessions } = recognized
    // Files of the same name keep each other; the same file replaces itself.
    const folder = join(imports, agent.id, digest)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, safeName)
    renameSync(received, path)
    return { agent, path, sessions }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    throw new AppError(
      'cannot_write',
      `The file cannot be stored in ${imports}: ${error.message}`,
      `${imports} にファイルを保存できません: ${error.message}`,
    )
  } finally {
    rmSync(incoming, { recursive: true, force: true })
  }
}

async function recognize(app: App, path: string): Promise<Pick<StoredImport, 'agent' | 'sessions'> | undefined> {
  for await (const { agent, source, unknown } of app.findLogs([path])) {
    if (unknown) continue
    const sessions = new Set<string>()
    for await (const batch of agent.read(source)) {
      for (const one of batch) if (one.kind === 'message') sessions.add(one.message.raw.session_id)
      if (sessions.size >= MAX_NAMED_SESSIONS) break
    }
    if (sessions.size > 0) return { agent, sessions: [...sessions].slice(0, MAX_NAMED_SESSIONS) }
  }
  return undefined
}

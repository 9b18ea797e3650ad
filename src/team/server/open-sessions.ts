/**
 * Sessions that are open in a browser or were taken over: written as a log into a folder of the server, and read from
 * there by the program that shows every log. The database decides who may read one; this folder only saves work.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from '../../app.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { buildServer } from '../../server/build-server.ts'
import type { TeamDatabase } from '../postgres/database.ts'
import { teamSessionId } from '../protocol.ts'
import type { SessionRow } from './list-sessions.ts'
import { readLines } from './read-lines.ts'

interface OpenFile {
  readonly path: string
  readonly generation: number
  readonly stored: number
  readonly revision: number
}

/** Those that were opened longest ago are closed. */
const MAX_OPEN = 200
const BATCH_LINES = 500

export class OpenSessions {
  readonly #folder: string
  readonly #app: App
  readonly #server: ReturnType<typeof buildServer>
  readonly #files = new Map<string, OpenFile>()
  /** One after the other: they share an index. */
  #last: Promise<unknown> = Promise.resolve()

  /** @param folder of this server alone; its former content is removed */
  constructor(folder: string, version: string) {
    this.#folder = folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(join(folder, 'sessions'), { recursive: true, mode: 0o700 })
    const variables = { FUMI_HOME: join(folder, 'data'), FUMI_CONFIG: join(folder, 'config') }
    this.#app = new App(
      { platform: process.platform, home: folder, variables },
      { roots: [join(folder, 'sessions')], threads: 0 },
    )
    this.#server = buildServer(this.#app, {
      host: 'localhost',
      port: () => 80,
      secure: false,
      tokens: undefined,
      page: join(folder, 'no-page'),
      version,
      idle: true,
      // The server in front limits its clients.
      rate: { burst: 1e9, perSecond: 1e9 },
    })
  }

  /** The answer to a request about one session, as the local server gives it. */
  async answer(request: Request, target: string): Promise<Response> {
    const headers = new Headers({ host: 'localhost' })
    for (const name of ['accept', 'accept-language']) {
      const value = request.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    return this.#server.api.fetch(new Request(`http://localhost${target}`, { headers, signal: request.signal }), {
      incoming: { url: target },
    })
  }

  /** Makes what is stored of a session readable here. @returns false if it is not complete any more */
  open(database: TeamDatabase, person: number, row: SessionRow): Promise<boolean> {
    const known = this.#files.get(row.key)
    if (known && known.revision === row.revision) {
      this.#files.delete(row.key)
      this.#files.set(row.key, known)
      return Promise.resolve(true)
    }
    return this.#inOrder(() => this.#write(database, person, row))
  }

  /** Removes every trace: it was withdrawn, or erased. */
  close(key: string): Promise<void> {
    return this.#inOrder(() => this.#forget(key))
  }

  /** Those that are open, so that a change of one can be followed. */
  has(key: string): boolean {
    return this.#files.has(key)
  }

  /** The file with the messages. */
  pathOf(key: string): string | undefined {
    return this.#files.get(key)?.path
  }

  async end(): Promise<void> {
    await this.#last.catch(() => {})
    await this.#server.close()
    this.#app.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work)
    this.#last = done.catch(() => {})
    return done
  }

  async #write(database: TeamDatabase, person: number, row: SessionRow): Promise<boolean> {
    const { key, generation, stored, revision } = row
    const known = this.#files.get(key)
    if (known?.revision === revision) return true
    const path = join(this.#folder, 'sessions', `${key}.ndjson`)
    const from = known?.generation === generation && known.stored <= stored ? known.stored : 0
    if (from === 0) writeFileSync(path, '', { mode: 0o600 })
    // One snapshot: a session that is replaced meanwhile is read again.
    const read = await database.asPerson(person, async (db) => {
      const { generation: now } =
        (await db.first<{ generation: number }>('SELECT generation FROM session WHERE session_key = $1', [
          BigInt(`0x${key}`).toString(),
        ])) ?? {}
      if (now !== generation) return undefined
      let next = from
      while (next < stored) {
        const lines = await readLines(db, key, next, BATCH_LINES)
        if (lines.length === 0) break
        appendFileSync(
          path,
          lines.map(({ seq, body }) => `${toLine(body, key, seq === 0 ? row : undefined)}\n`).join(''),
        )
        next = (lines.at(-1)?.seq ?? next) + 1
      }
      return next
    })
    if (read === undefined) return false
    for (const [oldest] of this.#files) {
      if (this.#files.size < MAX_OPEN) break
      if (oldest !== key) await this.#forget(oldest)
    }
    const id = teamSessionId(key) as SessionId
    if (this.#app.backup.forgotten().some(({ session }) => session === id)) this.#app.backup.unforget(id)
    await this.#app.sync()
    // Only now can it be read: other requests wait for this one.
    this.#files.delete(key)
    this.#files.set(key, { path, generation, stored: read, revision })
    return true
  }

  async #forget(key: string): Promise<void> {
    const known = this.#files.get(key)
    if (!known) return
    this.#files.delete(key)
    rmSync(known.path, { force: true })
    const id = teamSessionId(key) as SessionId
    if (this.#app.session(id)) await this.#app.forget(id)
  }
}

/** The line of a message in the log: it belongs to the session as the team calls it. The first carries the header. */
export function toLine(body: string, key: string, header: SessionRow | undefined): string {
  const message = JSON.parse(body) as NormalizedMessage
  const raw = { ...message.raw, session_id: teamSessionId(key) }
  const recorded = header?.header === null || header === undefined ? undefined : (JSON.parse(header.header) as object)
  const parent = header?.parent === null || header?.parent === undefined ? undefined : teamSessionId(header.parent)
  const session = recorded && { ...recorded, id: teamSessionId(key), ...(parent !== undefined && { parent }) }
  if (!session) return JSON.stringify({ ...message, raw })
  return JSON.stringify({ ...message, raw, metadata: { ...message.metadata, x_conv: { session } } })
}

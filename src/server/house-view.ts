/** What routes need beside the house: where changes are told, who keeps the index up to date, and what was read already. */
import { join } from 'node:path'
import type { App, SessionEntry } from '../app.ts'
import { statOf } from '../lib/files/look.ts'
import type { IndexMeta } from '../model/api/session.ts'
import type { SessionId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import type { IndexWatcher } from './live/attendant.ts'
import type { LiveEventBus } from './live/hub.ts'
import { ApiProblem } from './problem.ts'
import { LayoutCache } from './view/session/layouts.ts'
import { TallyCache } from './view/session/outlines.ts'
import { PromptCache } from './view/session/prompts.ts'

export class ServerContext {
  readonly app: App
  readonly eventBus: LiveEventBus
  readonly indexWatcher: IndexWatcher
  readonly tallies: TallyCache
  readonly layouts: LayoutCache
  readonly prompts: PromptCache
  readonly version: string

  constructor(app: App, eventBus: LiveEventBus, indexWatcher: IndexWatcher, version: string) {
    this.app = app
    this.eventBus = eventBus
    this.indexWatcher = indexWatcher
    this.version = version
    this.tallies = new TallyCache(app)
    this.layouts = new LayoutCache(app)
    this.prompts = new PromptCache(app)
  }

  /** The session of an address. */
  session(id: string): SessionEntry {
    const entry = this.app.session(id as SessionId)
    if (!entry)
      throw new ApiProblem('session_not_found', phrase(`There is no session ${id}.`, `会話 ${id} はありません。`))
    return entry
  }

  index(): IndexMeta {
    const { index, directory } = this.app
    const { sessions, bytes, unread } = index.extent()
    return {
      epoch: index.epoch ?? null,
      revision: index.revision,
      sessions,
      source_bytes: bytes,
      index_bytes: ['index.sqlite3', 'index.sqlite3-wal'].reduce(
        (sum, name) => sum + fileSizeOf(join(directory, name)),
        0,
      ),
      unread,
    }
  }
}

const fileSizeOf = (path: string): number => statOf(path)?.size ?? 0

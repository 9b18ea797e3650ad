/** What all routes share: the app, the event bus, the index watcher, and caches of sessions. */
import { join } from 'node:path'
import type { App, SessionEntry } from '../app.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import type { IndexMeta } from '../model/api/session.ts'
import type { SessionId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import { ApiProblem } from './api-problem.ts'
import type { IndexWatcher } from './index-watcher.ts'
import { LayoutCache, PromptCache, TallyCache } from './session-caches.ts'

export class ServerContext {
  readonly app: App
  readonly indexWatcher: IndexWatcher
  readonly tallies: TallyCache
  readonly layouts: LayoutCache
  readonly prompts: PromptCache
  readonly version: string

  constructor(app: App, indexWatcher: IndexWatcher, version: string) {
    this.app = app
    this.indexWatcher = indexWatcher
    this.version = version
    this.tallies = new TallyCache(app)
    this.layouts = new LayoutCache(app)
    this.prompts = new PromptCache(app)
  }

  session(id: string): SessionEntry {
    const entry = this.app.session(id as SessionId)
    if (!entry)
      throw new ApiProblem('session_not_found', phrase(`Session ${id} not found.`, `会話 ${id} が見つかりません。`))
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
        (sum, name) => sum + (statOf(join(directory, name))?.size ?? 0),
        0,
      ),
      unread,
    }
  }
}

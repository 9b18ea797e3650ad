/** What routes need besides the app: where changes are told, who keeps the index up to date, and what was read already. */
import { join } from 'node:path'
import type { App, SessionEntry } from '../app.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import type { IndexMeta } from '../model/api/session.ts'
import type { SessionId } from '../model/ids.ts'
import { phrase } from '../model/phrase.ts'
import { ApiProblem } from './api-problem.ts'
import type { IndexWatcher } from './index-watcher.ts'
import { LruCache } from './view/lru-cache.ts'
import { PromptCache } from './view/session/prompt-cache.ts'
import { TallyCache } from './view/session/tally-cache.ts'

/** Layouts of the sessions that were looked at last: they are asked for again and again while a page is open. */
type Layout = ReturnType<App['index']['layout']>

/** Messages. Up to there a place is found as soon without a layout. */
const MAX_OFFSET_WITHOUT_LAYOUT = 2000

interface CachedLayout {
  readonly epoch: string
  readonly revision: number
  readonly size: number
  readonly layout: Layout
}

class LayoutCache {
  readonly #app: App
  readonly #cache = new LruCache<string, CachedLayout>(16)

  constructor(app: App) {
    this.#app = app
  }

  of(entry: SessionEntry): Layout {
    const ready = this.known(entry)
    if (ready) return ready
    const epoch = this.#epoch
    const before = this.#cache.get(entry.id)
    const hasGrown = before && before.epoch === epoch && before.size <= entry.size
    const layout = this.#app.index.layout(entry.id, hasGrown ? before.layout : undefined)
    this.#cache.set(entry.id, { epoch, revision: entry.revision, size: entry.size, layout })
    return layout
  }

  /** For a place that lies so far behind: in a long session it is found sooner with it. */
  near(entry: SessionEntry, offset: number): Layout | undefined {
    return offset > MAX_OFFSET_WITHOUT_LAYOUT ? this.of(entry) : this.known(entry)
  }

  /** Of the session as it is now, if it was made already. */
  known(entry: SessionEntry): Layout | undefined {
    const known = this.#cache.get(entry.id)
    return known?.epoch === this.#epoch && known.revision === entry.revision ? known.layout : undefined
  }

  get #epoch(): string {
    return this.#app.index.epoch ?? ''
  }
}

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

/** Layouts of the sessions that were looked at last: they are asked for again and again while a page is open. */
import type { App, SessionEntry } from '../../../app.ts'
import { LruCache } from '../recent.ts'

type Layout = ReturnType<App['index']['layout']>

/** Messages. Up to there a place is found as soon without a layout. */
const MAX_OFFSET_WITHOUT_LAYOUT = 2000

interface CachedLayout {
  readonly epoch: string
  readonly revision: number
  readonly size: number
  readonly layout: Layout
}

export class LayoutCache {
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

/** Layouts of the sessions that were looked at last: they are asked for again and again while a page is open. */
import type { Entry, House } from '../../../app.ts'
import { Recent } from '../recent.ts'

type Layout = ReturnType<House['index']['layout']>

/** Messages. Up to there a place is found as soon without a layout. */
const FAR = 2000

interface Known {
  readonly epoch: string
  readonly revision: number
  readonly size: number
  readonly layout: Layout
}

export class Layouts {
  readonly #house: House
  readonly #known = new Recent<string, Known>(16)

  constructor(house: House) {
    this.#house = house
  }

  of(entry: Entry): Layout {
    const ready = this.known(entry)
    if (ready) return ready
    const epoch = this.#epoch
    const before = this.#known.get(entry.id)
    const hasGrown = before && before.epoch === epoch && before.size <= entry.size
    const layout = this.#house.index.layout(entry.id, hasGrown ? before.layout : undefined)
    this.#known.set(entry.id, { epoch, revision: entry.revision, size: entry.size, layout })
    return layout
  }

  /** For a place that lies so far behind: in a long session it is found sooner with it. */
  near(entry: Entry, offset: number): Layout | undefined {
    return offset > FAR ? this.of(entry) : this.known(entry)
  }

  /** Of the session as it is now, if it was made already. */
  known(entry: Entry): Layout | undefined {
    const known = this.#known.get(entry.id)
    return known?.epoch === this.#epoch && known.revision === entry.revision ? known.layout : undefined
  }

  get #epoch(): string {
    return this.#house.index.epoch ?? ''
  }
}

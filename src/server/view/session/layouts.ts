/** Layouts of the sessions that were looked at last: they are asked for again and again while a page is open. */
import type { Entry, House } from '../../../app.ts'
import { Recent } from '../recent.ts'

type Layout = ReturnType<House['index']['layout']>

export class Layouts {
  readonly #house: House
  readonly #known = new Recent<string, { readonly stamp: string; readonly layout: Layout }>(16)

  constructor(house: House) {
    this.#house = house
  }

  of(entry: Entry): Layout {
    const ready = this.known(entry)
    if (ready) return ready
    const layout = this.#house.index.layout(entry.id)
    this.#known.set(entry.id, { stamp: this.#stampOf(entry), layout })
    return layout
  }

  /** Of the session as it is now, if it was made already. */
  known(entry: Entry): Layout | undefined {
    const known = this.#known.get(entry.id)
    return known?.stamp === this.#stampOf(entry) ? known.layout : undefined
  }

  #stampOf({ revision }: Entry): string {
    return `${this.#house.index.epoch} ${revision}`
  }
}

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

  of({ id, revision }: Entry): Layout {
    const stamp = `${this.#house.index.epoch} ${revision}`
    const known = this.#known.get(id)
    if (known?.stamp === stamp) return known.layout
    const layout = this.#house.index.layout(id)
    this.#known.set(id, { stamp, layout })
    return layout
  }
}

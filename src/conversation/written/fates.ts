/** What became of the records behind pairs: told once nothing more can be written of them. */
import type { Carrier, Fate } from '../../model/replay/carrier.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import type { Group } from '../../model/replay/step.ts'
import type { Pair } from './pairs.ts'

type Records = Pick<Group, 'src' | 'records' | 'fits'>

/** More may be written of them. */
interface OpenFate {
  readonly groups: readonly Group[]
  readonly fates: readonly Fate[]
  readonly as: readonly object[]
}

export class Fates {
  readonly #carrier: Carrier
  readonly #tell: (fate: Fate) => void
  #open: readonly OpenFate[] = []

  constructor(carrier: Carrier, tell: (fate: Fate) => void) {
    this.#carrier = carrier
    this.#tell = tell
  }

  /** Nothing is written for it: its records go with the next pair. */
  leave(group: Records): void {
    const fates: Fate[] = []
    this.#carrier.carry(group, [], fates)
    this.#close({ groups: [], fates, as: [] })
  }

  /**
   * What a pair brings along.
   * @param element the pair as it is written, without its extension
   */
  put({ begins, tells, facts }: Pair, element: object): WrittenExtension | undefined {
    const still: OpenFate[] = []
    for (const open of this.#open) {
      if (!open.groups.some((group) => tells.has(group))) this.#close(open)
      else still.push({ ...open, as: [...open.as, element] })
    }
    const fates: Fate[] = []
    const [extension] = this.#carrier.carry(joined(begins, tells), [{ value: element, facts }], fates)
    this.#open = [...still, { groups: begins, fates, as: [element] }]
    return extension
  }

  /** What no pair could take along. */
  end(): WrittenExtension | undefined {
    for (const open of this.#open) this.#close(open)
    this.#open = []
    const rest = this.#carrier.end()
    if (rest?.records) this.#close({ groups: [], fates: [{ records: rest.records, as: [], isKept: true }], as: [] })
    return rest
  }

  #close({ fates, as }: OpenFate): void {
    for (const { records, as: own, isKept } of fates)
      if (records.length > 0) this.#tell({ records, as: own.length > 0 ? as : own, isKept })
  }
}

/** The records of an entry are of one source, or nobody's. */
function joined(begins: readonly Group[], tells: ReadonlySet<Group>): Records {
  const all = begins.length > 0 ? begins : [...tells]
  const [first] = all
  const fits = first !== undefined && all.every((group) => group.fits && group.src === first.src)
  return { src: first?.src, records: begins.flatMap(({ records }) => records), fits }
}

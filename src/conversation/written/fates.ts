/** What became of the records behind pairs: told once nothing more can be written of them. */
import type { ExtensionWriter, RecordConversion } from '../../model/replay/carrier.ts'
import type { WrittenExtension } from '../../model/replay/extension.ts'
import type { RecordGroup } from '../../model/replay/step.ts'
import type { EntryPair } from './pairs.ts'

type GroupRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

/** More may be written of them. */
interface OpenOutcome {
  readonly groups: readonly RecordGroup[]
  readonly outcomes: readonly RecordConversion[]
  readonly as: readonly object[]
}

export class RecordOutcomes {
  readonly #extensionWriter: ExtensionWriter
  readonly #report: (outcome: RecordConversion) => void
  #open: readonly OpenOutcome[] = []

  constructor(extensionWriter: ExtensionWriter, report: (outcome: RecordConversion) => void) {
    this.#extensionWriter = extensionWriter
    this.#report = report
  }

  /** Nothing is written for it: its records go with the next pair. */
  carryForward(group: GroupRecords): void {
    const outcomes: RecordConversion[] = []
    this.#extensionWriter.extensionsFor(group, [], outcomes)
    this.#close({ groups: [], outcomes, as: [] })
  }

  /**
   * What a pair brings along.
   * @param element the pair as it is written, without its extension
   */
  attach({ ownGroups, allGroups, facts }: EntryPair, element: object): WrittenExtension | undefined {
    const stillOpen: OpenOutcome[] = []
    for (const open of this.#open) {
      if (!open.groups.some((group) => allGroups.has(group))) this.#close(open)
      else stillOpen.push({ ...open, as: [...open.as, element] })
    }
    const outcomes: RecordConversion[] = []
    const [extension] = this.#extensionWriter.extensionsFor(
      joinGroups(ownGroups, allGroups),
      [{ value: element, facts }],
      outcomes,
    )
    this.#open = [...stillOpen, { groups: ownGroups, outcomes, as: [element] }]
    return extension
  }

  /** What no pair could take along. */
  end(): WrittenExtension | undefined {
    for (const open of this.#open) this.#close(open)
    this.#open = []
    const rest = this.#extensionWriter.end()
    if (rest?.records) this.#close({ groups: [], outcomes: [{ records: rest.records, as: [], isKept: true }], as: [] })
    return rest
  }

  #close({ outcomes, as }: OpenOutcome): void {
    for (const { records, as: own, isKept } of outcomes)
      if (records.length > 0) this.#report({ records, as: own.length > 0 ? as : own, isKept })
  }
}

/** The records of an entry are of one source, or nobody's. */
function joinGroups(ownGroups: readonly RecordGroup[], allGroups: ReadonlySet<RecordGroup>): GroupRecords {
  const all = ownGroups.length > 0 ? ownGroups : [...allGroups]
  const [first] = all
  const fits = first !== undefined && all.every((group) => group.fits && group.src === first.src)
  return { src: first?.src, records: ownGroups.flatMap(({ records }) => records), fits }
}

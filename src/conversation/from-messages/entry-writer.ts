/** How every writer of entries begins: with whom records go, and how calls are named. */

import type { ConversionChange } from '../../model/replay/conversion-change.ts'
import {
  ExtensionWriter,
  type ExtensionWriterOptions,
  type RecordConversion,
  toRecordOutcomes,
  type WrittenExtension,
} from '../../model/replay/extension.ts'
import type { RecordGroup } from '../../model/replay/step.ts'
import { type EntryPair, EntryPairs } from './entry-pairs.ts'
import { createUseNaming } from './pending-input.ts'

/** What there is to say beside the bytes. */
type WriterNotice =
  | ReturnType<typeof toRecordOutcomes<'x_conv'>>[number]
  | { readonly kind: 'loss'; readonly path: string; readonly what: ConversionChange; readonly kept_in: 'x_conv' | null }
  | { readonly kind: 'repair'; readonly path: string; readonly what: ConversionChange }

export interface EntryWriterOptions extends ExtensionWriterOptions {
  readonly cwd: string | undefined
  readonly emit: (...notices: readonly WriterNotice[]) => void
  /** Where the next entry will stand. */
  readonly path: () => string
}

export interface EntryWriter {
  readonly outcomes: RecordOutcomes
  readonly pairs: EntryPairs
  readonly reportOutcome: (outcome: RecordConversion) => void
  /** Tells what had to be made up or changed. */
  readonly reportRepair: (what: ConversionChange) => void
}

export function createEntryWriter({ cwd, emit, path, ...extensionOptions }: EntryWriterOptions): EntryWriter {
  const reportOutcome = (outcome: RecordConversion): void => emit(...toRecordOutcomes([outcome], 'x_conv'))
  const reportRepair = (what: ConversionChange): void => emit({ kind: 'repair', path: path(), what })
  const reportLoss = (what: ConversionChange): void =>
    emit({ kind: 'loss', path: path(), what, kept_in: extensionOptions.isOff ? null : 'x_conv' })
  const pairs = new EntryPairs(createUseNaming({ repair: reportRepair, loss: reportLoss }), cwd)
  return {
    outcomes: new RecordOutcomes(new ExtensionWriter(extensionOptions), reportOutcome),
    pairs,
    reportOutcome,
    reportRepair,
  }
}

/** What became of the records behind pairs: told once nothing more can be written of them. */
type GroupRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

/** More may be written of them. */
interface OpenOutcome {
  readonly groups: readonly RecordGroup[]
  readonly outcomes: readonly RecordConversion[]
  readonly as: readonly object[]
}

class RecordOutcomes {
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

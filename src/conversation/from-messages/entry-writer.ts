/** Common part of all writers of entries: attaches records and names calls. */

import {
  ExtensionWriter,
  type ExtensionWriterOptions,
  type RecordConversion,
  toRecordOutcomes,
  type WrittenExtension,
} from '../../model/replay/extension.ts'
import type { ConversionChange, RecordGroup } from '../../model/replay/step.ts'
import { type EntryPair, EntryPairs } from './entry-pairs.ts'
import { createUseNaming } from './pending-input.ts'

/** Output other than bytes. */
type WriterNotice =
  | ReturnType<typeof toRecordOutcomes<'x_conv'>>[number]
  | { readonly kind: 'loss'; readonly path: string; readonly what: ConversionChange; readonly kept_in: 'x_conv' | null }
  | { readonly kind: 'repair'; readonly path: string; readonly what: ConversionChange }

export interface EntryWriterOptions extends ExtensionWriterOptions {
  readonly cwd: string | undefined
  readonly emit: (...notices: readonly WriterNotice[]) => void
  /** Path of the next entry. */
  readonly path: () => string
}

export interface EntryWriter {
  readonly outcomes: RecordOutcomes
  readonly pairs: EntryPairs
  readonly reportOutcome: (outcome: RecordConversion) => void
  /** Reports inserted or changed values. */
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

/** Outcome of a group's records, reported once no more of them can be written. */
type GroupRecords = Pick<RecordGroup, 'src' | 'records' | 'fits'>

/** More of the group may still be written. */
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

  /** Nothing is written for this group: its records are attached to the next pair. */
  carryForward(group: GroupRecords): void {
    const outcomes: RecordConversion[] = []
    this.#extensionWriter.extensionsFor(group, [], outcomes)
    this.#close({ groups: [], outcomes, as: [] })
  }

  /**
   * The extension of a pair.
   * @param element the pair as written, without its extension
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

  /** Records that no pair could take. */
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

/** Records of an entry have at most one source. */
function joinGroups(ownGroups: readonly RecordGroup[], allGroups: ReadonlySet<RecordGroup>): GroupRecords {
  const all = ownGroups.length > 0 ? ownGroups : [...allGroups]
  const [first] = all
  const fits = first !== undefined && all.every((group) => group.fits && group.src === first.src)
  return { src: first?.src, records: ownGroups.flatMap(({ records }) => records), fits }
}

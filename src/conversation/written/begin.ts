/** How every writer of entries begins: with whom records go, and how calls are named. */
import {
  ExtensionWriter,
  type ExtensionWriterOptions,
  type RecordConversion,
  toRecordOutcomes,
} from '../../model/replay/carrier.ts'
import type { ConversionChange } from '../../model/replay/change.ts'
import { RecordOutcomes } from './fates.ts'
import { EntryPairs } from './pairs.ts'
import { createUseNaming } from './uses.ts'

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

/** What was read and what became of it: every record is accounted for, and every loss has a line. */
import type { RecordOutcome, WriterOutput } from '../agents/agent.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import {
  type ChangeCode,
  type ConversionChange,
  describeChange,
  toConversionChange,
} from '../model/replay/conversion-change.ts'
import { extensionOf } from '../model/replay/extension.ts'
import { findMissing, type ValuePath } from './missing-values.ts'

export interface Loss {
  /** Where in the source's records. */
  readonly path: string
  readonly code: ChangeCode
  /** The sentence of the code. */
  readonly what: string
  /** What of the sentence only this case knows; else empty. */
  readonly value: string
  /** `x_conv` in the output, `sidecar` beside it, or nowhere. */
  readonly kept_in: string | null
  readonly times: number
}

export interface Repair {
  /** Where it happened first. */
  readonly path: string
  readonly code: ChangeCode
  readonly what: string
  readonly value: string
  readonly times: number
}

export interface Report {
  readonly records: number
  readonly messages: number
  readonly losses: readonly Loss[]
  readonly repairs: readonly Repair[]
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export class LossReportBuilder {
  #messages = 0
  #read = 0
  #accounted = 0
  readonly #losses = new Map<string, Mutable<Loss>>()
  readonly #repairs = new Map<string, Mutable<Repair>>()

  readonly #kinds = new Map<string, ValuePath>()
  /** Of values without a place, by where they are kept: nearly all there are. */
  readonly #unplaced = new Map<string | null, Map<ValuePath, Mutable<Loss>>>()
  readonly #hasSidecar: boolean

  /** @param hasSidecar there is a file beside the output */
  constructor(hasSidecar: boolean) {
    this.#hasSidecar = hasSidecar
  }

  read(message: NormalizedMessage): void {
    this.#messages++
    this.#read += extensionOf(message)?.records?.length ?? 0
  }

  take(written: Exclude<WriterOutput, { kind: 'bytes' | 'sidecar' }>): void {
    if (written.kind === 'outcome') this.#compare(written.outcome)
    else if (written.kind === 'loss') this.#addLoss(written.path, written.what, written.kept_in)
    else this.#addRepair(written.path, written.what)
  }

  report(): Report {
    const unaccounted = this.#read - this.#accounted
    if (unaccounted !== 0) this.#addLoss('records', toConversionChange('unaccounted', unaccounted), null)
    return {
      records: this.#read,
      messages: this.#messages,
      losses: [...this.#losses.values()].sort(compareLosses),
      repairs: [...this.#repairs.values()],
    }
  }

  #compare({ records, as, kept_in }: RecordOutcome): void {
    this.#accounted += records.length
    if (as === records) return
    const losses = this.#unplaced.get(kept_in) ?? new Map<ValuePath, Mutable<Loss>>()
    this.#unplaced.set(kept_in, losses)
    findMissing(records, as, this.#kinds, (path) => {
      const known = losses.get(path)
      if (known) known.times++
      else losses.set(path, this.#addLoss(path.text, NO_EQUIVALENT, kept_in))
    })
  }

  #addLoss(path: string, change: ConversionChange, where: string | null): Mutable<Loss> {
    const kept_in = where === 'sidecar' && !this.#hasSidecar ? null : where
    const what = describeChange(change).en
    const key = `${kept_in}\n${path}\n${what}`
    const loss = this.#losses.get(key) ?? { path, ...change, what, kept_in, times: 0 }
    loss.times++
    this.#losses.set(key, loss)
    return loss
  }

  #addRepair(path: string, change: ConversionChange): void {
    const what = describeChange(change).en
    const known = this.#repairs.get(what)
    if (known) known.times++
    else this.#repairs.set(what, { path, ...change, what, times: 1 })
  }
}

const NO_EQUIVALENT = toConversionChange('no_place')

/** What is gone comes before what is kept, the most frequent first. */
function compareLosses(a: Loss, b: Loss): number {
  const lostFirst = Number(a.kept_in !== null) - Number(b.kept_in !== null)
  return lostFirst || b.times - a.times || (a.path < b.path ? -1 : 1)
}

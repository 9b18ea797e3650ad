/** The first pass: header, counts and tokens. Estimates tokens that no endpoint reported. */

import { classify } from '../../model/classify.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE, type TokenEstimate } from '../../model/token-estimate.ts'
import type { Cursor, ScanItem, Source } from '../agent.ts'
import { readLogFile } from '../kit/log-file.ts'
import { estimateItems, modelOf, ScanTally } from '../kit/scan-tally.ts'
import type { JournalCursor, ParseStep } from './journal-parser.ts'
import { parseJournal } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readLogFile<JournalScanCursor, ScanItem>(source, from, async function* (file, saved) {
    const tally = new JournalTally(saved?.bill)
    for await (const steps of parseJournal(source, file, {}, saved))
      yield [...steps.flatMap((step) => tally.count(step)), ...tally.take()]
  })
}

interface JournalScanCursor extends JournalCursor {
  readonly bill: PendingEstimate
}

/** Text since the last answer, and whether its request reported usage. Plain JSON. */
interface PendingEstimate {
  readonly unpaid: TokenEstimate
  readonly isPaid: boolean
}

class JournalTally extends ScanTally {
  #bill: PendingEstimate

  constructor(bill: PendingEstimate = { unpaid: NO_ESTIMATE, isPaid: false }) {
    super()
    this.#bill = bill
  }

  count(step: ParseStep): readonly ScanItem[] {
    if (step.kind === 'cursor')
      return [...this.take(), { kind: 'cursor', cursor: { ...step.cursor, bill: this.#bill } }]
    if (step.kind === 'line') this.lines++
    else if (step.kind !== 'message') return [step]
    else {
      this.add(step.message)
      return this.#estimate(step.message)
    }
    return []
  }

  /** Usage precedes the answer of its request. An answer without usage gets an estimate. */
  #estimate(message: NormalizedMessage): readonly ScanItem[] {
    const { metadata, raw } = message
    const { event_type: event } = raw
    if (event === 'next_message') this.#bill = { ...this.#bill, isPaid: false }
    if (metadata?.usage && metadata['purpose'] !== 'compaction') this.#bill = { ...this.#bill, isPaid: true }
    const { isRepeat, isReplayed } = classify(message)
    if (isRepeat || isReplayed) return []
    const at = recordedTime(message)
    const estimate = estimateMessage(message)
    if (event === 'copied') return estimateItems(at, modelOf(message), estimate)
    const { isPaid } = this.#bill
    const unpaid = addEstimates(this.#bill.unpaid, estimate)
    const isAnswer = event === 'entry' || event === 'interrupted'
    this.#bill = { unpaid: isAnswer ? NO_ESTIMATE : unpaid, isPaid }
    return isAnswer && !isPaid ? estimateItems(at, modelOf(message), unpaid) : []
  }
}

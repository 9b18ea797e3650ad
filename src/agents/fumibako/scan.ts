/** The first pass: header, counts and tokens. What no endpoint counted is estimated. */

import { stringOf } from '../../lib/unknown-values.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { addEstimates, estimateMessage, NO_ESTIMATE, type TokenEstimate } from '../../model/tokens/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { Counts, Cursor, ScanItem, Source } from '../agent.ts'
import { readLogFile } from '../kit/log-file.ts'
import type { JournalCursor, ParseStep } from './journal-parser.ts'
import { parseJournal } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly ScanItem[]> {
  return readLogFile<JournalScanCursor, ScanItem>(source, from, async function* (file, saved) {
    const counter = new ScanCounter(saved?.bill)
    for await (const steps of parseJournal(source, file, {}, saved)) yield countSteps(steps, counter)
  })
}

interface JournalScanCursor extends JournalCursor {
  readonly bill: PendingEstimate
}

function countSteps(steps: readonly ParseStep[], counter: ScanCounter): readonly ScanItem[] {
  const found: ScanItem[] = []
  for (const one of steps) {
    if (one.kind === 'line') counter.countLine()
    else if (one.kind === 'message') counter.countMessage(one.message, found)
    else if (one.kind === 'cursor')
      found.push(...counter.takeCounts(), { kind: 'cursor', cursor: { ...one.cursor, bill: counter.bill } })
    else found.push(one)
  }
  found.push(...counter.takeCounts())
  return found
}

/** What has been said since the last answer, and whether its request told what it used. Plain JSON. */
interface PendingEstimate {
  readonly unpaid: TokenEstimate
  readonly isPaid: boolean
}

const NO_PENDING_ESTIMATE: PendingEstimate = { unpaid: NO_ESTIMATE, isPaid: false }

class ScanCounter {
  bill: PendingEstimate
  #lines = 0
  #messages = 0
  #tools: Record<string, number> = {}

  constructor(bill: PendingEstimate = NO_PENDING_ESTIMATE) {
    this.bill = bill
  }

  countLine(): void {
    this.#lines++
  }

  countMessage(message: NormalizedMessage, found: ScanItem[]): void {
    const { role, source_type, tool_call, metadata, raw } = message
    const repeats = metadata?.['duplicate_of'] !== undefined || metadata?.['replayed'] === true
    if ((role === 'user' || role === 'assistant') && !repeats) this.#messages++
    if (source_type === 'tool_call' && metadata?.['replayed'] !== true) {
      const name = tool_call?.name ?? 'unknown'
      this.#tools[name] = (this.#tools[name] ?? 0) + 1
    }
    if (raw.event_type === 'next_message') this.bill = { ...this.bill, isPaid: false }
    const at = message.timestamp as Instant
    const model = stringOf(metadata?.['model'])
    const usage = metadata?.['usage'] as Usage | undefined
    if (usage) {
      found.push({ kind: 'usage', at, model, usage })
      if (metadata?.['purpose'] !== 'compaction') this.bill = { ...this.bill, isPaid: true }
    }
    if (repeats) return
    const estimate = estimateMessage(message)
    if (raw.event_type === 'copied') found.push(...estimateItems(at, model, estimate))
    else this.#charge(raw.event_type, at, model, estimate, found)
  }

  /** A request is paid for by the usage that comes before its answer. */
  #charge(
    event: string | null,
    at: Instant,
    model: string | undefined,
    estimate: TokenEstimate,
    found: ScanItem[],
  ): void {
    const unpaid = addEstimates(this.bill.unpaid, estimate)
    if (event !== 'entry' && event !== 'interrupted') {
      this.bill = { ...this.bill, unpaid }
      return
    }
    if (!this.bill.isPaid) found.push(...estimateItems(at, model, unpaid))
    this.bill = { unpaid: NO_ESTIMATE, isPaid: this.bill.isPaid }
  }

  /** What was added since they were asked for. */
  takeCounts(): readonly ScanItem[] {
    if (this.#lines === 0 && this.#messages === 0) return []
    const counts: Counts = { lines: this.#lines, messages: this.#messages, tools: this.#tools }
    this.#lines = 0
    this.#messages = 0
    this.#tools = {}
    return [{ kind: 'counts', counts }]
  }
}

function estimateItems(at: Instant, model: string | undefined, estimate: TokenEstimate): readonly ScanItem[] {
  if (estimate.user_bytes + estimate.assistant_bytes === 0) return []
  return [{ kind: 'estimate', at, model, estimate }]
}

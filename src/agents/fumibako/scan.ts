/** The first pass: header, counts and tokens. What no endpoint counted is estimated. */
import { readLog } from '../../lib/files/log-file.ts'
import { stringOf } from '../../lib/object.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { addEstimates, type Estimate, estimateOf, NO_ESTIMATE } from '../../model/tokens/estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { Counts, Cursor, Scan, Source } from '../agent.ts'
import type { Saved, Step } from './follower.ts'
import { followed } from './read.ts'

export function scan(source: Source, from?: Cursor): AsyncGenerator<readonly Scan[]> {
  return readLog<SavedScan, Scan>(source, from, async function* (file, saved) {
    const tally = new Tally(saved?.bill)
    for await (const steps of followed(source, file, {}, saved)) yield counted(steps, tally)
  })
}

interface SavedScan extends Saved {
  readonly bill: Bill
}

function counted(steps: readonly Step[], tally: Tally): readonly Scan[] {
  const found: Scan[] = []
  for (const one of steps) {
    if (one.kind === 'line') tally.line()
    else if (one.kind === 'message') tally.message(one.message, found)
    else if (one.kind === 'cursor')
      found.push(...tally.counts(), { kind: 'cursor', cursor: { ...one.cursor, bill: tally.bill } })
    else found.push(one)
  }
  found.push(...tally.counts())
  return found
}

/** What has been said since the last answer, and whether its request told what it used. Plain JSON. */
interface Bill {
  readonly unpaid: Estimate
  readonly isPaid: boolean
}

const NO_BILL: Bill = { unpaid: NO_ESTIMATE, isPaid: false }

class Tally {
  bill: Bill
  #lines = 0
  #messages = 0
  #tools: Record<string, number> = {}

  constructor(bill: Bill = NO_BILL) {
    this.bill = bill
  }

  line(): void {
    this.#lines++
  }

  message(message: NormalizedMessage, found: Scan[]): void {
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
    const estimate = estimateOf(message)
    if (raw.event_type === 'copied') found.push(...estimated(at, model, estimate))
    else this.#charge(raw.event_type, at, model, estimate, found)
  }

  /** A request is paid for by the usage that comes before its answer. */
  #charge(event: string | null, at: Instant, model: string | undefined, estimate: Estimate, found: Scan[]): void {
    const unpaid = addEstimates(this.bill.unpaid, estimate)
    if (event !== 'entry' && event !== 'interrupted') {
      this.bill = { ...this.bill, unpaid }
      return
    }
    if (!this.bill.isPaid) found.push(...estimated(at, model, unpaid))
    this.bill = { unpaid: NO_ESTIMATE, isPaid: this.bill.isPaid }
  }

  /** What was added since they were asked for. */
  counts(): readonly Scan[] {
    if (this.#lines === 0 && this.#messages === 0) return []
    const counts: Counts = { lines: this.#lines, messages: this.#messages, tools: this.#tools }
    this.#lines = 0
    this.#messages = 0
    this.#tools = {}
    return [{ kind: 'counts', counts }]
  }
}

function estimated(at: Instant, model: string | undefined, estimate: Estimate): readonly Scan[] {
  if (estimate.user_bytes + estimate.assistant_bytes === 0) return []
  return [{ kind: 'estimate', at, model, estimate }]
}

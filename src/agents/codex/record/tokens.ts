/** Token counts as Codex reports them: running totals, turned into amounts. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import { isSameUsage, NO_USAGE, type Usage, usageIncrease } from '../../../model/usage.ts'

export interface TokenReport {
  /** Of the thread so far. */
  readonly total: Usage | undefined
  /** Of the last request. */
  readonly last: Usage | undefined
  readonly model: string | undefined
  /** The amount itself, and the thread that used it. */
  readonly exact?: { readonly usage: Usage; readonly thread: string | undefined } | undefined
  /** The total is the size of a full context window, not a use of tokens. */
  readonly isWindowSize?: boolean | undefined
  /** Fields without a usable number. */
  readonly faults?: readonly string[] | undefined
}

/** Reads the payload of a `token_count`. Undefined if it only contains rate limits. */
export function parseTokenReport(payload: Fields): TokenReport | undefined {
  const info = fieldsOf(payload['info'])
  const check = new NumberCheck()
  if (!info) {
    // In the first versions, the payload contained the counters of one request.
    const last = payload['info'] === undefined ? parseTokenUsage(payload, check) : undefined
    return makeReport(undefined, last, undefined, check)
  }
  const total = parseTokenUsage(info['total_token_usage'], check)
  // The next total includes a lost one.
  const isLost = total === undefined && check.faults !== undefined
  const last = isLost ? undefined : parseTokenUsage(info['last_token_usage'], check)
  const report = makeReport(total, last, nonEmptyStringOf(info['model']), check)
  return report && total && isWindowSize(info['total_token_usage']) ? { ...report, isWindowSize: true } : report
}

/** When a request does not fit, Codex sets the total to the size of the window, and the counts that it is the sum of to 0. */
function isWindowSize(total: unknown): boolean {
  const fields = fieldsOf(total)
  return fields?.['input_tokens'] === 0 && fields['output_tokens'] === 0 && fields['total_tokens'] !== 0
}

/** From the payload of a `token_usage_record`: what one response used, and the total of its thread. */
export function parseUsageRecord(payload: Fields): TokenReport | undefined {
  const check = new NumberCheck()
  const usage = parseTokenUsage(payload['usage'], check)
  const total = parseTokenUsage(payload['thread_token_usage'], check)
  if (!usage)
    return check.faults ? { total: undefined, last: undefined, model: undefined, faults: check.faults } : undefined
  const exact = { usage, thread: nonEmptyStringOf(payload['thread_id']) }
  return { total, last: usage, model: undefined, exact, faults: check.faults }
}

function makeReport(
  total: Usage | undefined,
  last: Usage | undefined,
  model: string | undefined,
  { faults }: NumberCheck,
): TokenReport | undefined {
  if (faults) return { total, last, model, faults }
  return total || last ? { total, last, model } : undefined
}

/** Undefined where a count is unusable: a running total with a gap would count everything before it again. */
export function parseTokenUsage(value: unknown, check: NumberCheck): Usage | undefined {
  const fields = fieldsOf(value)
  if (!fields) return undefined
  const own = new NumberCheck()
  const input_tokens = own.tokens(fields['input_tokens'], 'input_tokens')
  const cached_input_tokens = own.tokens(fields['cached_input_tokens'], 'cached_input_tokens') ?? 0
  const output_tokens = own.tokens(fields['output_tokens'], 'output_tokens')
  const reasoning_output_tokens = own.tokens(fields['reasoning_output_tokens'], 'reasoning_output_tokens') ?? 0
  const total = own.tokens(fields['total_tokens'], 'total_tokens')
  if (own.faults) return void check.add(own.faults)
  if (input_tokens === undefined && output_tokens === undefined && total === undefined) return undefined
  return {
    input_tokens: input_tokens ?? 0,
    cached_input_tokens,
    output_tokens: output_tokens ?? 0,
    reasoning_output_tokens,
    total_tokens: total ?? (input_tokens ?? 0) + (output_tokens ?? 0),
  }
}

export interface SavedTokenMeter {
  readonly before: Usage | null
  readonly recorded: Usage | null
  readonly isCovered: boolean
  readonly hasAnswer: boolean
}

/** How the log begins. */
export interface LogStart {
  /** The thread of the log. */
  readonly thread: string | undefined
  /** The log continues another one, so its first total may hold the other's tokens. */
  readonly inherits: boolean
  /** The beginning is in another log, not copied into this one. */
  readonly refers: boolean
}

/** Turns reports into amounts: each token is counted once, however often it is reported. */
export class TokenMeter {
  /** The running total that was reported last. */
  #before: Usage | undefined
  /** The thread's total in the last usage record. Not comparable with running totals, which a full window resets. */
  #recorded: Usage | undefined
  /** A usage record counted what the next running total adds. */
  #isCovered: boolean
  #hasAnswer: boolean

  constructor(saved?: SavedTokenMeter) {
    this.#before = saved?.before ?? undefined
    this.#recorded = saved?.recorded ?? undefined
    this.#isCovered = saved?.isCovered ?? false
    this.#hasAnswer = saved?.hasAnswer ?? false
  }

  /** The model has answered in this log: what is reported from now on may be this log's own. */
  noteAnswer(): void {
    this.#hasAnswer = true
  }

  /** @param copied the report is a copy of the parent's: known, not used here */
  add(report: TokenReport, copied: boolean, start: LogStart): Usage {
    const { total, last, exact, isWindowSize } = report
    if (exact) return this.#addRecord(report, exact, copied, start)
    if (!total) return copied || !last ? NO_USAGE : last
    const before = this.#before
    this.#before = total
    if (copied || isWindowSize || (before && isSameUsage(before, total))) return NO_USAGE
    const isCovered = this.#isCovered
    this.#isCovered = false
    // Before the first answer, a log that refers to another one restates the other's total.
    if (isCovered || (!before && start.refers && !this.#hasAnswer)) return NO_USAGE
    return usageIncrease(before, total, last, start.inherits)
  }

  #addRecord(
    { total }: TokenReport,
    { usage, thread }: NonNullable<TokenReport['exact']>,
    copied: boolean,
    start: LogStart,
  ): Usage {
    const isRepeated = this.#recorded !== undefined && total !== undefined && isSameUsage(this.#recorded, total)
    this.#recorded = total
    this.#isCovered = true
    const isForeign = thread !== undefined && start.thread !== undefined && thread !== start.thread
    return copied || isRepeated || isForeign ? NO_USAGE : usage
  }

  save(): SavedTokenMeter {
    return {
      before: this.#before ?? null,
      recorded: this.#recorded ?? null,
      isCovered: this.#isCovered,
      hasAnswer: this.#hasAnswer,
    }
  }
}

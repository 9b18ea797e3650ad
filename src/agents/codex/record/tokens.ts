/** Token counts as Codex reports them: running totals, turned into amounts. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { NumberCheck } from '../../../model/checked-numbers.ts'
import { NO_USAGE, type Usage, usageIncrease } from '../../../model/usage.ts'

export interface TokenReport {
  /** Of the thread so far. */
  readonly total: Usage | undefined
  /** Of the last request. */
  readonly last: Usage | undefined
  readonly model: string | undefined
  /** Fields without a usable number. */
  readonly faults?: readonly string[] | undefined
}

/** From the payload of a `token_count`. Nothing when it only brings news of rate limits. */
export function parseTokenReport(payload: Fields): TokenReport | undefined {
  const info = fieldsOf(payload['info'])
  const check = new NumberCheck()
  if (!info) {
    // The first versions had the counters of one request here.
    const last = payload['info'] === undefined ? parseTokenUsage(payload, check) : undefined
    return makeReport(undefined, last, undefined, check)
  }
  const total = parseTokenUsage(info['total_token_usage'], check)
  // The next total includes a lost one.
  const isLost = total === undefined && check.faults !== undefined
  const last = isLost ? undefined : parseTokenUsage(info['last_token_usage'], check)
  return makeReport(total, last, nonEmptyStringOf(info['model']), check)
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

/** Turns reports into amounts: each token is counted once, however often it is reported. */
export class TokenMeter {
  #before: Usage | undefined

  constructor(before?: Usage) {
    this.#before = before
  }

  /**
   * @param copied the report is a copy of the parent's: known, not used here
   * @param inherits the log continues another one
   */
  add({ total, last }: TokenReport, copied: boolean, inherits: boolean): Usage {
    if (!total) return copied || !last ? NO_USAGE : last
    const before = this.#before
    this.#before = total
    return copied ? NO_USAGE : usageIncrease(before, total, last, inherits)
  }

  /** Usage is the difference of totals: nothing was inherited and no total decreased. */
  isSteady(total: Usage, inherits: boolean): boolean {
    const before = this.#before
    if (!before) return !inherits
    return total.input_tokens >= before.input_tokens && total.output_tokens >= before.output_tokens
  }

  save(): Usage | null {
    return this.#before ?? null
  }
}

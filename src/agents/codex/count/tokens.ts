/** Token counts as Codex reports them. */
import { type Fields, fieldsOf, numberOf, wordOf } from '../../../lib/object.ts'
import { NO_USAGE, type Usage, usageSince } from '../../../model/usage.ts'

export interface Report {
  /** Of the thread so far. */
  readonly total: Usage | undefined
  /** Of the last request. */
  readonly last: Usage | undefined
  readonly model: string | undefined
}

/** From the payload of a `token_count`. Nothing when it only brings news of rate limits. */
export function reportOf(payload: Fields): Report | undefined {
  const info = fieldsOf(payload['info'])
  if (!info) {
    // The first versions had the counters of one request here.
    const last = payload['info'] === undefined ? usageOf(payload) : undefined
    return last && { total: undefined, last, model: undefined }
  }
  const total = usageOf(info['total_token_usage'])
  const last = usageOf(info['last_token_usage'])
  return total || last ? { total, last, model: wordOf(info['model']) } : undefined
}

export function usageOf(value: unknown): Usage | undefined {
  const fields = fieldsOf(value)
  const input_tokens = numberOf(fields?.['input_tokens'])
  const output_tokens = numberOf(fields?.['output_tokens'])
  const total = numberOf(fields?.['total_tokens'])
  if (!fields || (input_tokens === undefined && output_tokens === undefined && total === undefined)) return undefined
  return {
    input_tokens: input_tokens ?? 0,
    cached_input_tokens: numberOf(fields['cached_input_tokens']) ?? 0,
    output_tokens: output_tokens ?? 0,
    reasoning_output_tokens: numberOf(fields['reasoning_output_tokens']) ?? 0,
    total_tokens: total ?? (input_tokens ?? 0) + (output_tokens ?? 0),
  }
}

/** Turns reports into amounts: each token is counted once, however often it is reported. */
export class Meter {
  #before: Usage | undefined

  constructor(before?: Usage) {
    this.#before = before
  }

  /**
   * @param copied the report is a copy of the parent's: known, not used here
   * @param inherits the log continues another one
   */
  add({ total, last }: Report, copied: boolean, inherits: boolean): Usage {
    if (!total) return copied || !last ? NO_USAGE : last
    const before = this.#before
    this.#before = total
    return copied ? NO_USAGE : usageSince(before, total, last, inherits)
  }

  /** The total alone tells what was used: nothing is inherited and nothing fell. */
  isSteady(total: Usage, inherits: boolean): boolean {
    const before = this.#before
    if (!before) return !inherits
    return total.input_tokens >= before.input_tokens && total.output_tokens >= before.output_tokens
  }

  save(): Usage | null {
    return this.#before ?? null
  }
}

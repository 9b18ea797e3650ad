/**
 * Counts tokens once. Copilot CLI tells them several times: requests one by one in later versions, the output of each
 * answer in earlier ones, and the sum of everything so far when a session ends.
 */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import { cacheWrites, NO_USAGE, type Usage } from '../../model/usage.ts'

type Counts = readonly [input: number, cached: number, written: number, output: number, reasoning: number]

const NONE: Counts = [0, 0, 0, 0, 0]
const OUTPUT = 3

interface ModelTotals {
  /** What the last sum said. */
  told: Counts
  /** What was counted since. */
  since: Counts
}

/** Plain JSON, for cursors. */
export interface Meter {
  models: { [model: string]: ModelTotals }
  /** Requests whose output was counted, and how much of it; null once the request is counted completely. */
  requests: [id: string, output: number | null][]
}

export const newMeter = (): Meter => ({ models: {}, requests: [] })

/** A request and the answers that are made of it are close to each other. */
const MAX_REQUESTS = 64
/** Enough of an id to tell requests apart; some are ciphertext of hundreds of characters. */
const ID_LENGTH = 48

const EMPTY_MODEL = (): ModelTotals => ({ told: NONE, since: NONE })

function modelIn(meter: Meter, name: string): ModelTotals {
  if (!Object.hasOwn(meter.models, name))
    Object.defineProperty(meter.models, name, {
      value: EMPTY_MODEL(),
      configurable: true,
      enumerable: true,
      writable: true,
    })
  return meter.models[name] as ModelTotals
}

const combine = (a: Counts, b: Counts, with_: (x: number, y: number) => number): Counts =>
  a.map((value, at) => with_(value, b[at] ?? 0)) as unknown as Counts

const add = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => x + y)
const excess = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => Math.max(0, x - y))

function countsOf(fields: Fields | undefined): Counts | undefined {
  if (!fields) return undefined
  const names = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens']
  return names.map((name) => validCountOf(fields[name]) ?? 0) as unknown as Counts
}

function usageOf([input, cached, written, output, reasoning]: Counts): Usage | undefined {
  if (input + output + reasoning === 0) return undefined
  return {
    ...NO_USAGE,
    input_tokens: input,
    cached_input_tokens: Math.min(cached, input),
    ...cacheWrites(Math.min(written, input), 0),
    output_tokens: output,
    // The sum at the end tells which part of outputs that were already counted was reasoning.
    reasoning_output_tokens: reasoning,
    total_tokens: input + output,
  }
}

const idOf = (...ids: readonly unknown[]): string | undefined =>
  ids.flatMap((id) => nonEmptyStringOf(id) ?? [])[0]?.slice(-ID_LENGTH)

/** A request. One that was made in another session counts there: this one was forked from it. */
export function countRequest(meter: Meter, data: Fields, session: string): Usage | undefined {
  const usage = fieldsOf(data['usage'])
  const counts = countsOf(usage)
  const accounting = fieldsOf(usage?.['accounting'])
  const source = nonEmptyStringOf(accounting?.['sourceSessionId'])
  if (!usage || !counts || (source !== undefined && source !== session)) return undefined
  const id = idOf(usage['apiCallId'], accounting?.['usageId'])
  const known = takeRequest(meter, id)
  if (known === null) return undefined
  noteRequest(meter, id, null)
  return count(meter, usage['model'], excess(counts, [0, 0, 0, known ?? 0, 0]))
}

/** An answer: it records only its output tokens, and an answer in several pieces may repeat them in each. */
export function countAnswer(meter: Meter, data: Fields): Usage | undefined {
  const output = validCountOf(data['outputTokens']) ?? 0
  if (output === 0) return undefined
  const id = idOf(data['apiCallId'], data['messageId'])
  const known = takeRequest(meter, id)
  noteRequest(meter, id, known === null ? null : Math.max(known ?? 0, output))
  return known === null ? undefined : count(meter, data['model'], [0, 0, 0, Math.max(0, output - (known ?? 0)), 0])
}

/**
 * The sum for one model at the end of a session, which may be resumed afterwards. Counting begins again when the sum is
 * less than the last one, or exactly what was counted since.
 */
export function countTotal(meter: Meter, model: string, metrics: unknown): Usage | undefined {
  const total = countsOf(fieldsOf(fieldsOf(metrics)?.['usage']))
  if (!total) return undefined
  const own = modelIn(meter, model)
  const isLess = total.some((value, at) => value < (own.told[at] ?? 0))
  const isNew = own.told[OUTPUT] > 0 && total[OUTPUT] === own.since[OUTPUT]
  const missing = excess(total, isLess || isNew ? own.since : add(own.told, own.since))
  Object.assign(own, { told: total, since: NONE })
  // Answers of old versions do not name their model.
  const nameless = modelIn(meter, '')
  const rest = excess(missing, nameless.since)
  nameless.since = excess(nameless.since, missing)
  return usageOf(rest)
}

/** A request for a summary, which no sum includes. */
export const usageOfSummary = (data: Fields): Usage | undefined => {
  const counts = countsOf(fieldsOf(data['compactionTokensUsed']))
  return counts && usageOf(counts)
}

function count(meter: Meter, model: unknown, counts: Counts): Usage | undefined {
  const own = modelIn(meter, nonEmptyStringOf(model) ?? '')
  own.since = add(own.since, counts)
  return usageOf(counts)
}

function takeRequest({ requests }: Meter, id: string | undefined): number | null | undefined {
  const at = id === undefined ? -1 : requests.findIndex(([known]) => known === id)
  return at < 0 ? undefined : requests.splice(at, 1)[0]?.[1]
}

function noteRequest({ requests }: Meter, id: string | undefined, output: number | null): void {
  if (id === undefined) return
  requests.push([id, output])
  if (requests.length > MAX_REQUESTS) requests.shift()
}

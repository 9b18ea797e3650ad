/** Adds up one conversation, message by message: usage and cost by turn and model, tools, files, events, rate limits. */
import { fieldsOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import type {
  ContextPoint,
  EventCount,
  RateLimit,
  SessionFile,
  SessionTool,
  TurnTotals,
} from '../../model/api/totals.ts'
import { classify, eventNameOf } from '../../model/classify.ts'
import { type Instant, instantFromMs, toInstant } from '../../model/ids.ts'
import type { Mutable, NormalizedMessage } from '../../model/normalized.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../../model/prices.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { searchableTextOf } from '../../model/searchable-text.ts'
import { type SessionFacts, SessionFactsCollector, UNREPEATED_EVENT } from '../../model/session-facts.ts'
import { qualifiedToolName, toSingleLine } from '../../model/tool-summary.ts'
import { findTouchedFiles } from '../../model/touched-files.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'

interface SessionCounts {
  usage: Usage
  cost: Spent
  byModel: Map<string, { usage: Usage; cost: Spent }>
  turns: TurnCounts[]
  rateLimits: Map<string, RateLimit>
  events: Map<string, Mutable<EventCount>>
  tools: Map<string, Mutable<SessionTool>>
  files: Map<string, { how: Set<SessionFile['how'][number]>; calls: number; last: string }>
  roles: Record<string, number>
  encrypted: { records: number; bytes: number }
  images: number
  /** The turns of a log that was trimmed to its events. Which of the two lists counts is known at the end. */
  eventTurns: TurnCounts[]
  hasMessages: boolean
  model: string | undefined
  context: ContextPoint[]
  contextWindow: number | undefined
}

type TurnCounts = Omit<Mutable<TurnTotals>, 'number' | 'rolled_back' | 'duration_ms'> & { last_at: Instant | null }

const emptyCounts = (): SessionCounts => ({
  usage: NO_USAGE,
  cost: NO_COST,
  byModel: new Map(),
  turns: [],
  rateLimits: new Map(),
  events: new Map(),
  tools: new Map(),
  files: new Map(),
  roles: {},
  encrypted: { records: 0, bytes: 0 },
  images: 0,
  eventTurns: [],
  hasMessages: false,
  model: undefined,
  context: [],
  contextWindow: undefined,
})

export class SessionTally {
  readonly #prices: PriceList
  readonly #collector: SessionFactsCollector
  readonly counts: SessionCounts

  constructor(prices: PriceList, counts = emptyCounts(), collector = new SessionFactsCollector()) {
    this.#prices = prices
    this.#collector = collector
    this.counts = counts
  }

  copy(): SessionTally {
    return new SessionTally(this.#prices, structuredClone(this.counts), this.#collector.copy())
  }

  facts(): SessionFacts {
    return this.#collector.facts()
  }

  add(message: NormalizedMessage): void {
    const { role, metadata, raw, segments } = message
    const { counts } = this
    this.#collector.add(message)
    const { isReplayed, isRepeat } = classify(message)
    if (isReplayed) return
    counts.roles[role] = (counts.roles[role] ?? 0) + 1
    if (raw.private) {
      counts.encrypted.records++
      counts.encrypted.bytes += metadata?.encrypted_bytes ?? 0
    }
    if (!isRepeat) counts.images += segments.filter(({ type }) => type === 'image').length
    if (typeof metadata?.model === 'string') counts.model = metadata.model
    this.#addTurn(message)
    this.#addEvent(message)
    this.#addTool(message)
    if (metadata?.usage) {
      this.#addUsage(metadata.usage, recordedTime(message))
      this.#addContext(message, metadata.usage)
    }
  }

  #addTurn(message: NormalizedMessage): void {
    const { id, role } = message
    const at = recordedTime(message)
    const { counts } = this
    if (role === 'user' || role === 'assistant') counts.hasMessages = true
    const turns = classify(message).isTyped
      ? counts.turns
      : classify(message, UNREPEATED_EVENT).isTyped
        ? counts.eventTurns
        : undefined
    turns?.push({
      message_id: id,
      prompt: promptLineOf(message),
      started_at: at,
      last_at: at,
      usage: NO_USAGE,
      cost: NO_COST,
      tools: 0,
      errors: 0,
    })
    if (at === null) return
    for (const turn of this.#openTurns()) if (turn.last_at === null || at > turn.last_at) turn.last_at = at
  }

  #openTurns(): readonly TurnCounts[] {
    const { turns, eventTurns, hasMessages } = this.counts
    return [turns.at(-1), hasMessages ? undefined : eventTurns.at(-1)].filter((turn) => turn !== undefined)
  }

  #addEvent(message: NormalizedMessage): void {
    const { id, timestamp, metadata, role } = message
    if (role !== 'meta' || !metadata?.event_kind) return
    const kind = eventNameOf(message)
    const before = this.counts.events.get(kind)
    this.counts.events.set(kind, {
      event_kind: kind,
      count: (before?.count ?? 0) + 1,
      first_message_id: before?.first_message_id ?? id,
      last_at: recordedTime(message),
    })
    const limits = fieldsOf(metadata.token_count?.rate_limits)
    for (const [name, given] of Object.entries(limits ?? {})) {
      const limit = parseRateLimit(name, given, timestamp)
      if (limit) this.counts.rateLimits.set(name, limit)
    }
  }

  #addTool(message: NormalizedMessage): void {
    const { tool_call, source_type, id } = message
    if (!tool_call) return
    const tool = qualifiedToolName(tool_call)
    const sum = this.counts.tools.get(tool) ?? { tool, calls: 0, errors: 0, duration_ms: 0, timed: 0 }
    this.counts.tools.set(tool, sum)
    if (source_type === 'tool_call') sum.calls++
    if (tool_call.status === 'error') sum.errors++
    if (source_type === 'tool_result' && tool_call.duration_ms !== undefined) {
      sum.duration_ms += tool_call.duration_ms
      sum.timed++
    }
    for (const turn of this.#openTurns()) {
      if (source_type === 'tool_call') turn.tools++
      if (tool_call.status === 'error') turn.errors++
    }
    for (const { path, how } of findTouchedFiles(message)) {
      const file = this.counts.files.get(path) ?? { how: new Set(), calls: 0, last: id }
      file.how.add(how)
      file.calls++
      file.last = id
      this.counts.files.set(path, file)
    }
  }

  #addUsage(usage: Usage, at: Instant | null): void {
    const { counts } = this
    const cost = costOfUsage(usage, counts.model, at, this.#prices)
    counts.usage = addUsage(counts.usage, usage)
    counts.cost = addCosts(counts.cost, cost)
    const name = counts.model ?? 'unknown'
    const model = counts.byModel.get(name) ?? { usage: NO_USAGE, cost: NO_COST }
    counts.byModel.set(name, { usage: addUsage(model.usage, usage), cost: addCosts(model.cost, cost) })
    for (const turn of this.#openTurns()) {
      turn.usage = addUsage(turn.usage, usage)
      turn.cost = addCosts(turn.cost, cost)
    }
  }

  /** Each request sends the complete context: its input, and then the answer, are what the model knows. */
  #addContext(message: NormalizedMessage, { input_tokens, output_tokens }: Usage): void {
    const { counts } = this
    const tokens = input_tokens + output_tokens
    if (tokens > 0) counts.context.push({ message_id: message.id, at: recordedTime(message), tokens })
    const window = numberOf(fieldsOf(message.metadata?.token_count)?.['model_context_window'])
    const info = numberOf(fieldsOf(fieldsOf(message.metadata?.token_count)?.['info'])?.['model_context_window'])
    counts.contextWindow = window ?? info ?? counts.contextWindow
  }

  /** At most `most` requests; of several neighbours, the one with the largest context. */
  context(most: number): readonly ContextPoint[] {
    const { context } = this.counts
    const size = Math.ceil(context.length / most)
    if (size <= 1) return context
    return Array.from({ length: Math.ceil(context.length / size) }, (_, at) =>
      context.slice(at * size, (at + 1) * size).reduce((a, b) => (b.tokens > a.tokens ? b : a)),
    )
  }

  turns(): readonly TurnTotals[] {
    const { turns, eventTurns, hasMessages } = this.counts
    const facts = this.facts()
    return (hasMessages ? turns : eventTurns).map(({ last_at, ...turn }, at) => ({
      number: at + 1,
      ...turn,
      duration_ms: durationBetween(turn.started_at, last_at),
      rolled_back: facts.isRolledBack({ id: turn.message_id }),
    }))
  }
}

const durationBetween = (first: string | null, last: string | null): number | null =>
  first === null || last === null ? null : Math.max(0, Date.parse(last) - Date.parse(first))

function parseRateLimit(name: string, given: unknown, at: string): RateLimit | undefined {
  const limit = fieldsOf(given)
  const used = numberOf(limit?.['used_percent'])
  if (!limit || used === undefined) return undefined
  const resets = limit['resets_at']
  const seconds = numberOf(limit['resets_in_seconds'])
  const resetsAt =
    resets !== undefined
      ? toInstant(resets)
      : seconds === undefined
        ? undefined
        : instantFromMs(Date.parse(at) + seconds * 1000)
  return {
    name: stringOf(limit['limit_name']) ?? name,
    used_percent: used,
    window_minutes: numberOf(limit['window_minutes']) ?? null,
    resets_at: resetsAt ?? null,
    at,
  }
}

const MAX_PROMPT_LENGTH = 200

/** The beginning of what a person typed, on one line. */
export function promptLineOf(message: NormalizedMessage): string {
  const { prompt } = searchableTextOf(message)
  const fullText = prompt ?? message.segments.map(({ text }) => text ?? '').join('\n')
  const line = toSingleLine(fullText.slice(0, MAX_PROMPT_LENGTH * 4))
  if (line === '' && message.segments.some(({ type }) => type === 'image')) return '[image]'
  return line.length > MAX_PROMPT_LENGTH ? `${line.slice(0, MAX_PROMPT_LENGTH).trimEnd()}…` : line
}

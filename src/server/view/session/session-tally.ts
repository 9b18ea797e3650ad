/** Adds up one conversation, message by message. */

import { fieldsOf, listOf, numberOf, stringOf } from '../../../lib/unknown-values.ts'
import type { EventCount, RateLimit, SessionFile, SessionTool, TurnTotals } from '../../../model/api/totals.ts'
import { type Instant, instantFromMs, toInstant } from '../../../model/ids.ts'
import type { NormalizedMessage } from '../../../model/normalized.ts'
import { addCosts, costOfUsage, NO_COST, type PriceList, type Spent } from '../../../model/prices.ts'
import { qualifiedToolName } from '../../../model/tool-summary.ts'
import { findTouchedFiles } from '../../../model/touched-files.ts'
import { addUsage, NO_USAGE, type Usage } from '../../../model/usage.ts'
import { promptLineOf } from './prompt-line.ts'

interface SessionCounts {
  usage: Usage
  cost: Spent
  byModel: Map<string, { usage: Usage; cost: Spent }>
  turns: TurnCounts[]
  rateLimits: Map<string, RateLimit>
  events: Map<string, Writable<EventCount>>
  tools: Map<string, Writable<SessionTool>>
  files: Map<string, { how: Set<SessionFile['how'][number]>; calls: number; last: string }>
  roles: Record<string, number>
  encrypted: { records: number; bytes: number }
  images: number
  rolledBack: Set<string>
  /** Some logs are trimmed to their events: these are prompts then. */
  eventTurns: TurnCounts[]
  hasMessages: boolean
  model: string | undefined
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type TurnCounts = Omit<Writable<TurnTotals>, 'number' | 'rolled_back' | 'duration_ms'> & { last_at: string }

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
  rolledBack: new Set(),
  eventTurns: [],
  hasMessages: false,
  model: undefined,
})

export class SessionTally {
  readonly #prices: PriceList
  readonly counts: SessionCounts

  constructor(prices: PriceList, counts: SessionCounts = emptyCounts()) {
    this.#prices = prices
    this.counts = counts
  }

  copy(): SessionTally {
    return new SessionTally(this.#prices, structuredClone(this.counts))
  }

  add(message: NormalizedMessage): void {
    const { role, metadata, raw, segments, timestamp } = message
    const { counts } = this
    for (const id of listOf(metadata?.['rolled_back'])) if (typeof id === 'string') counts.rolledBack.add(id)
    if (metadata?.['replayed'] === true) return
    counts.roles[role] = (counts.roles[role] ?? 0) + 1
    if (raw.private) {
      counts.encrypted.records++
      counts.encrypted.bytes += numberOf(metadata?.['encrypted_bytes']) ?? 0
    }
    counts.images += segments.filter(({ type }) => type === 'image').length
    this.#turn(message)
    this.#event(message)
    this.#tool(message)
    const usage = metadata?.['usage'] as Usage | undefined
    if (usage) this.#use(usage, timestamp)
  }

  #turn(message: NormalizedMessage): void {
    const { id, role, metadata, timestamp } = message
    const { counts } = this
    const begin = (): TurnCounts => ({
      message_id: id,
      prompt: promptLineOf(message),
      started_at: timestamp,
      last_at: timestamp,
      usage: NO_USAGE,
      cost: NO_COST,
      tools: 0,
      errors: 0,
    })
    if (role === 'user' || role === 'assistant') counts.hasMessages = true
    if (role === 'user' && metadata?.['injected'] !== true) counts.turns.push(begin())
    if (metadata?.['event_kind'] === 'user_message') counts.eventTurns.push(begin())
    for (const turn of this.#open()) if (timestamp > turn.last_at) turn.last_at = timestamp
  }

  /** Which of the two lists counts is known at the end only. */
  #open(): readonly TurnCounts[] {
    const { turns, eventTurns, hasMessages } = this.counts
    return [turns.at(-1), hasMessages ? undefined : eventTurns.at(-1)].filter((turn) => turn !== undefined)
  }

  #event({ id, timestamp, metadata, role }: NormalizedMessage): void {
    if (typeof metadata?.['model'] === 'string') this.counts.model = metadata['model']
    const kind = metadata?.['event_kind']
    if (role !== 'meta' || typeof kind !== 'string') return
    const before = this.counts.events.get(kind)
    this.counts.events.set(kind, {
      event_kind: kind,
      count: (before?.count ?? 0) + 1,
      first_message_id: before?.first_message_id ?? id,
      last_at: timestamp,
    })
    const limits = fieldsOf(fieldsOf(metadata?.['token_count'])?.['rate_limits'])
    for (const [name, given] of Object.entries(limits ?? {})) {
      const limit = parseRateLimit(name, given, timestamp)
      if (limit) this.counts.rateLimits.set(name, limit)
    }
  }

  #tool(message: NormalizedMessage): void {
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
    for (const turn of this.#open()) {
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

  #use(usage: Usage, at: string): void {
    const { counts } = this
    const cost = costOfUsage(usage, counts.model, at as Instant, this.#prices)
    counts.usage = addUsage(counts.usage, usage)
    counts.cost = addCosts(counts.cost, cost)
    const name = counts.model ?? 'unknown'
    const model = counts.byModel.get(name) ?? { usage: NO_USAGE, cost: NO_COST }
    counts.byModel.set(name, { usage: addUsage(model.usage, usage), cost: addCosts(model.cost, cost) })
    for (const turn of this.#open()) {
      turn.usage = addUsage(turn.usage, usage)
      turn.cost = addCosts(turn.cost, cost)
    }
  }

  isRolledBack(message: string): boolean {
    return this.counts.rolledBack.has(message)
  }

  turns(): readonly TurnTotals[] {
    const { turns, eventTurns, hasMessages } = this.counts
    return (hasMessages ? turns : eventTurns).map(({ last_at, ...turn }, at) => ({
      number: at + 1,
      ...turn,
      duration_ms: Math.max(0, Date.parse(last_at) - Date.parse(turn.started_at)),
      rolled_back: this.isRolledBack(turn.message_id),
    }))
  }
}

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

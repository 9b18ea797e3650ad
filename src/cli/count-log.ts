/** Runs the first pass over one log, and adds up what it finds, session by session. */

import type { Agent, ScanItem, Source } from '../agents/agent.ts'
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { HistorySummary } from '../amazon-q.ts'
import { type AgentId, type Instant, instantFromMs, type SessionClaim } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import { addCosts, costOfUsage, type PriceList } from '../model/prices.ts'
import type { Session } from '../model/session.ts'
import { addEstimates } from '../model/token-estimate.ts'
import {
  addCostTo,
  addUsageTo,
  createLocalDay,
  type DayFormatter,
  emptyTotals,
  type Totals,
  toUtcDay,
} from '../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { UsageRecord } from '../model/usage-groups.ts'

/** Plain data, for threads. */
export interface TotalsOptions {
  readonly utc: boolean
  readonly prices: PriceList
}

export interface LogCounts {
  /** One per conversation of the log. */
  readonly sessions: readonly SessionCounts[]
  readonly issues: readonly Issue[]
}

const QUARTER_MS = 900_000

/** What one session adds to the totals. Kept small, because there may be very many. */
export interface SessionCounts {
  readonly claim: SessionClaim
  readonly cwd: string | undefined
  readonly agent: AgentId
  readonly lines: number
  readonly messages: number
  /** Tools and tokens, if there are any. */
  readonly used: Totals | undefined
  readonly history: HistorySummary | undefined
  readonly records: readonly UsageRecord[]
}

/** Counts logs one after the other. */
export class LogCounter {
  readonly #dayOf: DayFormatter
  readonly #prices: PriceList

  constructor({ utc, prices }: TotalsOptions) {
    this.#dayOf = utc ? toUtcDay : createLocalDay()
    this.#prices = prices
  }

  /** @param at gets the offset up to which the source was read */
  async count(agent: Agent, source: Source, at: (offset: number) => void): Promise<LogCounts> {
    const issues: Issue[] = []
    const sessions: SessionCounts[] = []
    // Records belong to the header before them.
    let open = new SessionCounter(this.#dayOf, this.#prices)
    const end = (): void => {
      const found = open.end()
      if (found) sessions.push(found)
    }
    for await (const batch of catchReaderErrors(source, agent.scan(source))) {
      for (const one of batch) {
        if (one.kind === 'issue' && one.issue.code !== 'not_a_session') issues.push(one.issue)
        if (one.kind === 'cursor') at(one.cursor.offset ?? 0)
        if (one.kind === 'session' && open.session && open.session.id !== one.session.id) {
          end()
          open = new SessionCounter(this.#dayOf, this.#prices)
        }
        open.add(one)
      }
    }
    end()
    return { sessions, issues }
  }
}

/** `2026-01-01T00:00` */
const MINUTE_LENGTH = 16

interface SpentRecord {
  readonly at: Instant | null
  readonly model: string
  usage: Usage
}

class SessionCounter {
  session: Session | undefined
  readonly #dayOf: DayFormatter
  readonly #prices: PriceList
  #lines = 0
  #messages = 0
  #used: Totals | undefined
  #history: HistorySummary | undefined
  /** By quarter of an hour and model. */
  readonly #records = new Map<string, SpentRecord>()
  /** Consecutive reports are mostly of the same minute. */
  #last: { readonly minute: string; readonly day: string; readonly record: SpentRecord } | undefined

  constructor(dayOf: DayFormatter, prices: PriceList) {
    this.#dayOf = dayOf
    this.#prices = prices
  }

  add(one: ScanItem): void {
    if (one.kind === 'session') this.session = one.session
    if (one.kind === 'history') this.#history = one.summary
    if (one.kind === 'counts') {
      this.#lines += one.counts.lines
      this.#messages += one.counts.messages
      for (const [name, calls] of Object.entries(one.counts.tools)) {
        this.#used ??= emptyTotals()
        this.#used.tools[name] = (this.#used.tools[name] ?? 0) + calls
      }
    }
    if (one.kind === 'estimate') {
      this.#used ??= emptyTotals()
      this.#used.estimate = addEstimates(this.#used.estimate, one.estimate)
      this.#used.estimated_sessions = 1
    }
    if (one.kind === 'usage') this.#spend(one)
  }

  #spend({ at, model = 'unknown', usage }: Extract<ScanItem, { kind: 'usage' }>): void {
    this.#used ??= emptyTotals()
    const { day, record } = this.#placeOf(at, model)
    record.usage = addUsage(record.usage, usage)
    const spent = costOfUsage(usage, model === 'unknown' ? undefined : model, at, this.#prices)
    const { cost } = this.#used
    this.#used.usage = addUsage(this.#used.usage, usage)
    addUsageTo(this.#used.by_model, model, usage)
    addUsageTo(this.#used.by_day, day, usage)
    cost.all = addCosts(cost.all, spent)
    addCostTo(cost.by_model, model, spent)
    addCostTo(cost.by_day, day, spent)
  }

  #placeOf(at: Instant | null, model: string): { readonly day: string; readonly record: SpentRecord } {
    const minute = at?.slice(0, MINUTE_LENGTH) ?? ''
    if (this.#last?.minute === minute && this.#last.record.model === model) return this.#last
    const quarter = at === null ? null : (instantFromMs(Math.floor(Date.parse(at) / QUARTER_MS) * QUARTER_MS) ?? null)
    const key = `${quarter} ${model}`
    const record = this.#records.get(key) ?? { at: quarter, model, usage: NO_USAGE }
    this.#records.set(key, record)
    this.#last = { minute, day: this.#dayOf(at), record }
    return this.#last
  }

  /** Undefined if it was not a conversation. */
  end(): SessionCounts | undefined {
    if (this.session?.kind !== 'conversation') return undefined
    const { id, started_at, first_record, cwd, agent } = this.session
    const claim = { id, at: started_at, first: first_record }
    const counts = { lines: this.#lines, messages: this.#messages, used: this.#used, history: this.#history }
    const place = { agent, project: cwd ?? 'unknown', session: id }
    return {
      claim,
      cwd,
      agent,
      ...counts,
      records: Array.from(this.#records.values(), (one) => ({ ...one, ...place })),
    }
  }
}

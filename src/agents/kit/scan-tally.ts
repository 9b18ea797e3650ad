/** The first pass, derived from the second: counts, usage and estimates of messages. */

import { classify } from '../../model/classify.ts'
import type { Instant } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime, TimeRange } from '../../model/recorded-time.ts'
import type { Session } from '../../model/session.ts'
import { estimateMessage, type TokenEstimate } from '../../model/token-estimate.ts'
import type { Usage } from '../../model/usage.ts'
import type { ReadItem, ScanItem } from '../agent.ts'
import { hasKeys } from './place-message.ts'

/** The recorded times of a log, for lists and periods. */
export class TimesTally {
  #range = new TimeRange()

  add(at: Instant | null): void {
    this.#range.add(at)
  }

  /** Everything since the last call. */
  take(): ScanItem[] {
    const { first, last } = this.#range
    if (first === null || last === null) return []
    this.#range = new TimeRange()
    return [{ kind: 'times', first, last }]
  }
}

/** Adds up messages until `take` reports them. */
export class ScanTally {
  lines = 0
  #messages = 0
  #tools = emptyToolCounts()
  readonly #times = new TimesTally()
  /** The last recorded time. A record without a time counts to it. */
  #latest: Instant | null = null
  /** Reported usage items. */
  #items: ScanItem[] = []

  add(message: NormalizedMessage): void {
    const { isCounted, isReplayed, isRepeat, kind } = classify(message)
    const at = recordedTime(message)
    if (!isReplayed) this.#times.add(at)
    this.#latest = at ?? this.#latest
    // A list of prompts repeats what was typed in other sessions.
    if (isCounted && message.metadata?.prompt_of === undefined) this.#messages++
    if (kind === 'call' && !isReplayed && !isRepeat) {
      const name = message.tool_call?.name ?? 'unknown'
      this.#tools[name] = (this.#tools[name] ?? 0) + 1
    }
    const usage = message.metadata?.usage
    if (usage && !isReplayed) this.#items.push({ kind: 'usage', at: this.#latest, model: modelOf(message), usage })
  }

  addCounted({ at, counts: { messages, tools, model, usage } }: CountedRecord): void {
    this.#times.add(at)
    this.#latest = at ?? this.#latest
    this.#messages += messages
    for (const name of tools) this.#tools[name] = (this.#tools[name] ?? 0) + 1
    if (usage) this.#items.push({ kind: 'usage', at: this.#latest, model, usage })
  }

  /** Call after `add`. */
  estimate(message: NormalizedMessage): void {
    this.#items.push(...estimateItems(this.#latest, modelOf(message), estimateMessage(message)))
  }

  /** Everything since the last call. */
  take(): ScanItem[] {
    const items = [...this.#times.take(), ...this.#items]
    if (this.lines > 0 || this.#messages > 0 || hasKeys(this.#tools))
      items.push({ kind: 'counts', counts: { lines: this.lines, messages: this.#messages, tools: this.#tools } })
    this.lines = 0
    this.#messages = 0
    this.#tools = emptyToolCounts()
    this.#items = []
    return items
  }
}

/** Without a prototype, because names come from logs: `__proto__` may be one. */
export const emptyToolCounts = (): Record<string, number> => Object.create(null) as Record<string, number>

export const modelOf = ({ metadata }: NormalizedMessage): string | undefined =>
  typeof metadata?.model === 'string' ? metadata.model : undefined

export const estimateItems = (
  at: Instant | null,
  model: string | undefined,
  estimate: TokenEstimate,
): readonly ScanItem[] =>
  estimate.user_bytes + estimate.assistant_bytes === 0 ? [] : [{ kind: 'estimate', at, model, estimate }]

/** Lines that gave no item since they were last counted. */
export interface LineTally {
  silent: number
  /** Set at the end. */
  names?: readonly GivenName[]
}

/** A name that a log gives to a session. */
export interface GivenName {
  readonly native_id: string
  readonly title: string
}

interface ScanOptions {
  readonly lines?: LineTally | undefined
  readonly estimates?: boolean | undefined
  readonly isConversation?: ((session: Session) => boolean) | undefined
}

/** Of a record that is counted without messages. */
export interface RecordCounts {
  readonly messages: number
  /** The tools that it calls. */
  readonly tools: readonly string[]
  readonly model: string | undefined
  readonly usage: Usage | undefined
  /** A new title of the session. */
  readonly title?: string
}

export interface RecordPosition {
  readonly at: Instant
  /** The id of its first message. */
  readonly id: string
}

/** What both passes read, and records that only the first one counts. */
export type FirstPassItem = ReadItem | CountedRecord

interface CountedRecord {
  readonly kind: 'counted'
  readonly line: number
  /** Its own time. */
  readonly at: Instant | null
  readonly counts: RecordCounts
}

/** For line-based logs of one session. A line counts once, however many messages and issues it gives. */
export async function* scanFromRead(
  batches: AsyncIterable<readonly FirstPassItem[]>,
  { lines, estimates, isConversation }: ScanOptions = {},
): AsyncGenerator<readonly ScanItem[]> {
  const tally = new ScanTally()
  let last = 0
  for await (const batch of batches) {
    const found: ScanItem[] = []
    if (lines) {
      tally.lines += lines.silent
      lines.silent = 0
    }
    for (const one of batch) {
      const line = lineOf(one)
      if (line > last) {
        tally.lines++
        last = line
      }
      if (one.kind === 'message') {
        tally.add(one.message)
        if (estimates) tally.estimate(one.message)
      } else if (one.kind === 'counted') tally.addCounted(one)
      else if (one.kind === 'cursor') found.push(...tally.take(), one)
      else if (one.kind !== 'session' || isConversation?.(one.session) !== false) found.push(one)
    }
    found.push(...tally.take())
    if (found.length > 0) yield found
  }
  if (lines) tally.lines += lines.silent
  const rest = [...tally.take(), ...(lines?.names ?? []).map((name) => ({ kind: 'title', ...name }) as const)]
  if (rest.length > 0) yield rest
}

function lineOf(one: FirstPassItem): number {
  if (one.kind === 'message') return one.message.raw.line_index
  if (one.kind === 'counted') return one.line
  // NUL bytes alone do not make a line.
  return one.kind === 'issue' && one.issue.code !== 'nul_bytes' ? (one.issue.line ?? 0) : 0
}

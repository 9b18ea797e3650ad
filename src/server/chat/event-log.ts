/** Events of an open chat since its history was read: numbered, and bounded for turns of any length. */
import { randomUUID } from 'node:crypto'
import type { ChatEvent } from '../../model/api/chat.ts'

interface EventLogLimits {
  readonly events: number
  readonly length: number
}

const DEFAULT_LIMITS: EventLogLimits = { events: 5000, length: 8_000_000 }

export class EventLog {
  readonly #limits: EventLogLimits
  #events: ChatEvent[] = []
  #size = 0
  #epoch = randomUUID()
  /** Maps the end of the previous epoch to this one. */
  #before: { readonly epoch: string; readonly end: number; readonly now: number } | undefined

  constructor(limits: EventLogLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** Numbers restart with each epoch. */
  get epoch(): string {
    return this.#epoch
  }

  get length(): number {
    return this.#events.length
  }

  at(number: number): ChatEvent | undefined {
    return this.#events[number]
  }

  push(event: ChatEvent): void {
    this.#events.push(event)
    this.#size += eventSize(event)
    if (this.#events.length > this.#limits.events || this.#size > this.#limits.length) this.#shorten()
  }

  clear(): void {
    this.#events = []
    this.#size = 0
    this.#epoch = randomUUID()
    this.#before = undefined
  }

  /** The same position in this epoch for a client that had received everything; undefined for others. */
  positionOf(epoch: string, number: number): number | undefined {
    const { epoch: from, end, now } = this.#before ?? {}
    return from === epoch && end === number ? now : undefined
  }

  /** Drops events that later ones repeat, then the oldest, until half of the capacity is free. */
  #shorten(): void {
    const from = { epoch: this.#epoch, end: this.#events.length - 1 }
    const last = this.#events.at(-1)
    const retained = removeRepeated(this.#events.slice(0, -1))
    let size = retained.reduce((sum, event) => sum + eventSize(event), 0)
    let first = 0
    while (
      retained.length - first > this.#limits.events / 2 ||
      (size > this.#limits.length / 2 && first < retained.length)
    )
      size -= eventSize(retained[first++] as ChatEvent)
    const events = first === 0 ? retained : [CUT_NOTICE, ...retained.slice(first)]
    this.#epoch = randomUUID()
    this.#before = { ...from, now: events.length }
    this.#events = last ? [...events, last] : events
    this.#size = size + (last ? eventSize(last) : 0)
  }
}

const CUT_NOTICE: ChatEvent = {
  kind: 'notice',
  code: 'events_dropped',
  text: 'The beginning of this turn is not shown here. It is in the conversation.',
  ja: 'このターンの始めのほうは、ここには表示しません。会話には残っています。',
}

type Piece = Extract<ChatEvent, { kind: 'delta' | 'reasoning' }>

/** Merges text deltas, drops output of finished tools (their last event has it) and all but the last transient state. */
function removeRepeated(events: readonly ChatEvent[]): ChatEvent[] {
  const done = new Set(events.flatMap((event) => (event.kind === 'tool_done' ? [event.id] : [])))
  const retained: ChatEvent[] = []
  let pieces: string[] = []
  let open: Piece | undefined
  const flush = (): void => {
    if (open) retained.push({ ...open, text: pieces.join('') })
    open = undefined
    pieces = []
  }
  for (const event of events) {
    if (event.kind === 'calling' || event.kind === 'started' || event.kind === 'usage') continue
    if (event.kind === 'tool_output' && done.has(event.id)) continue
    if (event.kind !== 'delta' && event.kind !== 'reasoning') {
      flush()
      retained.push(event)
      continue
    }
    if (open?.kind !== event.kind) flush()
    open = event
    pieces.push(event.text)
  }
  flush()
  return retained
}

function eventSize(event: ChatEvent): number {
  switch (event.kind) {
    case 'delta':
    case 'reasoning':
    case 'tool_output':
    case 'said':
    case 'notice':
    case 'output':
    case 'error':
      return 100 + event.text.length
    case 'tool_done':
      return 100 + event.output.length
    case 'compacted':
      return 100 + event.summary.length
    case 'tool_asked':
    case 'consent_needed':
      return 100 + JSON.stringify(event.need).length
    default:
      return 100
  }
}

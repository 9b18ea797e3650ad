/** Where a conversation is written: its journal, with time, machine and numbers at hand. */
import { Entries } from '../../conversation/entries.ts'
import type { JournalEvent, UntimedEvent } from '../../conversation/journal/event.ts'
import { lastNumber } from '../../conversation/journal/numbered-entries.ts'
import { eventsBetween } from '../../conversation/journal/state-to-events.ts'
import type { UserEnvContext } from '../../conversation/message.ts'
import { environmentOf, type Machine } from '../../conversation/new-message.ts'
import type { ConversationState } from '../../conversation/state.ts'
import { tangentTimeOf } from '../../conversation/tangent.ts'
import { appendUserTranscript } from '../../conversation/transcript.ts'
import type { TangentTime } from '../../conversation/zoned-time.ts'
import type { Clock } from '../../openai/chat/transport.ts'
import type { JournalFile } from './journal-file.ts'

interface JournalWriterOptions {
  readonly clock: Clock
  readonly machine: Machine
  readonly newId: () => string
}

export class JournalWriter {
  readonly clock: Clock
  readonly newId: () => string
  readonly #machine: Machine
  readonly #journal: JournalFile

  constructor(journal: JournalFile, { clock, machine, newId }: JournalWriterOptions) {
    this.#journal = journal
    this.clock = clock
    this.newId = newId
    this.#machine = machine
  }

  get state(): ConversationState {
    return this.#journal.state
  }

  get journal(): JournalFile {
    return this.#journal
  }

  /** Synced to disk when it returns. */
  append(...events: readonly UntimedEvent[]): void {
    const at = this.utcNow()
    this.#journal.append(events.map((event) => ({ ...event, at }) as JournalEvent))
  }

  /** Appends the events that lead to this state. */
  changeTo(state: ConversationState): void {
    this.#journal.append(eventsBetween(this.#journal.replay, state, this.utcNow()))
  }

  transcribe(text: string): void {
    this.append({ event: 'transcript', lines: [...appendUserTranscript(Entries.of(), text)] })
  }

  nextNumber(): number {
    return lastNumber(this.#journal.replay.allEntries) + 1
  }

  env(): UserEnvContext {
    return environmentOf(this.#machine)
  }

  utcNow(): string {
    return new Date(this.clock.now()).toISOString()
  }

  localNow(): string {
    return formatLocalTime(this.clock.now())
  }

  tangentNow(): TangentTime {
    const time = tangentTimeOf(this.localNow())
    if (!time) throw new Error('a local time is a time')
    return time
  }
}

/** Local time with its offset, as messages store it. */

/** @param milliseconds since 1970 */
function formatLocalTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const offset = -date.getTimezoneOffset()
  const wall = new Date(milliseconds + offset * 60_000).toISOString().slice(0, -1)
  const seconds = wall.replace(/\.000$/, '')
  if (offset === 0) return `${seconds}Z`
  const minutes = Math.abs(offset)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${seconds}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** Whose log this is, and which of its lines are copies of its parent's. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, fieldsOf, jsonText, stringOf, wordOf } from '../../../lib/object.ts'
import type { Instant } from '../../../model/ids.ts'
import { countOf } from '../../../model/numbers.ts'
import type { Session } from '../../../model/session.ts'
import type { Source } from '../../agent.ts'
import { logOfThread } from '../find.ts'
import type { Shape } from '../raw.ts'
import { Header } from './header.ts'
import { Replay, type SavedReplay } from './replay.ts'

export interface SavedThread {
  readonly session: Session | null
  readonly replay: SavedReplay | null
  readonly startOrdinal: number | null
}

/** What a record that speaks of the session says: of this one, of another one, or nothing. */
export type Described = 'own' | 'other' | undefined

export class Thread {
  readonly #source: Source
  #header: Header | undefined
  #replay: Replay | undefined
  #startOrdinal: number | undefined

  constructor(source: Source, saved?: SavedThread) {
    this.#source = source
    this.#header = saved?.session ? new Header(saved.session) : undefined
    this.#startOrdinal = saved?.startOrdinal ?? undefined
    if (saved?.replay) this.#replay = new Replay(this.#parentLog(), this.#startOrdinal, saved.replay)
  }

  get header(): Header | undefined {
    return this.#header
  }

  /** The first record decides the session's identity. */
  begin(record: Fields, shape: Shape, at: Instant, bytes: Buffer | undefined): Header {
    if (this.#header) return this.#header
    const first = sha256(bytes ?? jsonText(record)).slice(0, 16)
    const { agent, path, shown, session } = this.#source
    const kind = shape === 'prompt' ? 'prompts' : 'conversation'
    this.#header = Header.born(record, kind, { agent, path: shown ?? path, session, first, at })
    return this.#header
  }

  describe(record: Fields, shape: Shape): Described {
    const payload = shape === 'header' ? record : fieldsOf(record['payload'])
    if (!this.#header || !payload) return undefined
    switch (shape === 'header' ? 'session_meta' : stringOf(record['type'])) {
      case 'session_meta':
        if (!this.#header.describe(payload)) return 'other'
        this.#expectCopies(payload)
        return 'own'
      case 'turn_context':
        this.#header.turn(payload)
        return undefined
      case 'event_msg':
        if (payload['type'] === 'thread_name_updated') this.#header.title(payload['thread_name'])
        if (payload['type'] === 'thread_settings_applied') this.#header.model(settingsModel(payload))
        return undefined
      default:
        return undefined
    }
  }

  /** While copies may still come, each line is compared with the parent's. */
  get mayCopy(): boolean {
    return this.#replay !== undefined && !this.#replay.over
  }

  /** @param record the line's record, where it was parsed: a header of another session begins copies */
  isCopy(bytes: Buffer | undefined, at: number, ordinal: number | undefined, record: Fields | undefined): boolean {
    if (!this.#replay || this.#replay.over || !bytes) return false
    const native = record?.['type'] === 'session_meta' ? wordOf(fieldsOf(record['payload'])?.['id']) : undefined
    const foreignHeader = native !== undefined && !this.#header?.owns(native)
    return this.#replay.isCopy({ bytes, at, ordinal, foreignHeader })
  }

  close(): void {
    this.#replay?.close()
  }

  save(): SavedThread {
    return {
      session: this.#header?.save() ?? null,
      replay: this.#replay?.save() ?? null,
      startOrdinal: this.#startOrdinal ?? null,
    }
  }

  #expectCopies(payload: Fields): void {
    if (this.#header?.parent === undefined || this.#replay) return
    this.#startOrdinal = countOf(payload['subagent_history_start_ordinal'])
    this.#replay = new Replay(this.#parentLog(), this.#startOrdinal)
  }

  #parentLog(): string | undefined {
    const native = this.#header?.parent?.slice(this.#source.agent.length + 1)
    return native === undefined ? undefined : logOfThread(this.#source, native)
  }
}

export const settingsModel = (payload: Fields): string | undefined =>
  wordOf(fieldsOf(payload['thread_settings'])?.['model'])

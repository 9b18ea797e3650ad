/** Whose log this is, and which of its lines are copies of its parent's. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../../lib/unknown-values.ts'
import { validCountOf } from '../../../model/checked-numbers.ts'
import type { Instant } from '../../../model/ids.ts'
import type { Session } from '../../../model/session.ts'
import type { Source } from '../../agent.ts'
import { findThreadLog } from '../find.ts'
import type { CodexRecordShape } from '../record/shape.ts'
import { CopyDetector, type SavedCopyDetector } from './copy-detector.ts'
import { SessionHeader } from './session-header.ts'

export interface SavedThread {
  readonly session: Session | null
  readonly replay: SavedCopyDetector | null
  readonly startOrdinal: number | null
}

/** What a record that speaks of the session says: of this one, of another one, or nothing. */
export type DescribedSession = 'own' | 'other' | undefined

export class Thread {
  readonly #source: Source
  #header: SessionHeader | undefined
  #copies: CopyDetector | undefined
  #startOrdinal: number | undefined

  constructor(source: Source, saved?: SavedThread) {
    this.#source = source
    this.#header = saved?.session ? new SessionHeader(saved.session) : undefined
    this.#startOrdinal = saved?.startOrdinal ?? undefined
    if (saved?.replay) this.#copies = new CopyDetector(this.#parentLog(), this.#startOrdinal, saved.replay)
  }

  get header(): SessionHeader | undefined {
    return this.#header
  }

  /** The first record decides the session's identity. */
  begin(record: Fields, shape: CodexRecordShape, at: Instant, bytes: Buffer | undefined): SessionHeader {
    if (this.#header) return this.#header
    const first = sha256(bytes ?? toJsonText(record)).slice(0, 16)
    const { agent, path, shown, session } = this.#source
    const kind = shape === 'prompt' ? 'prompts' : 'conversation'
    this.#header = SessionHeader.fromFirstRecord(record, kind, { agent, path: shown ?? path, session, first, at })
    return this.#header
  }

  describe(record: Fields, shape: CodexRecordShape): DescribedSession {
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
    return this.#copies !== undefined && !this.#copies.isOver
  }

  /** @param record the line's record, where it was parsed: a header of another session begins copies */
  isCopy(bytes: Buffer | undefined, at: number, ordinal: number | undefined, record: Fields | undefined): boolean {
    if (!this.#copies || this.#copies.isOver || !bytes) return false
    const native =
      record?.['type'] === 'session_meta' ? nonEmptyStringOf(fieldsOf(record['payload'])?.['id']) : undefined
    const foreignHeader = native !== undefined && !this.#header?.owns(native)
    return this.#copies.isCopy({ bytes, at, ordinal, foreignHeader })
  }

  close(): void {
    this.#copies?.close()
  }

  save(): SavedThread {
    return {
      session: this.#header?.save() ?? null,
      replay: this.#copies?.save() ?? null,
      startOrdinal: this.#startOrdinal ?? null,
    }
  }

  #expectCopies(payload: Fields): void {
    if (this.#header?.parent === undefined || this.#copies) return
    this.#startOrdinal = validCountOf(payload['subagent_history_start_ordinal'])
    this.#copies = new CopyDetector(this.#parentLog(), this.#startOrdinal)
  }

  #parentLog(): string | undefined {
    const native = this.#header?.parent?.slice(this.#source.agent.length + 1)
    return native === undefined ? undefined : findThreadLog(this.#source, native)
  }
}

export const settingsModel = (payload: Fields): string | undefined =>
  nonEmptyStringOf(fieldsOf(payload['thread_settings'])?.['model'])

/** The archive as tools see it: it reads, updates the index for a bounded time, and redacts. */
import type { App, IndexedMessage, LoadedMessage, SessionEntry } from '../app.ts'
import { countTurns, readTurnOf, type TurnRows } from '../index/turn-rows.ts'
import type { SessionId } from '../model/ids.ts'
import type { Caller } from './caller.ts'
import { citeFile, citeSession, citeTime } from './citation.ts'
import { type Freshness, IndexFreshness } from './freshness.ts'
import { AnswerRedaction } from './redaction.ts'

/** What a call can be told while it runs. */
export interface CallControl {
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number, message: string) => void
}

export const NO_CONTROL: CallControl = { signal: new AbortController().signal, onProgress: () => {} }

export class MemoryArchive {
  readonly app: App
  readonly redaction: AnswerRedaction
  readonly #freshness: IndexFreshness

  constructor(app: App, freshness = new IndexFreshness(app)) {
    this.app = app
    this.redaction = new AnswerRedaction(app.environment)
    this.#freshness = freshness
  }

  /** Updates the index if nobody else does, and says how fresh it is. */
  refresh(): Promise<Freshness> {
    return this.#freshness.refresh()
  }

  /** Ends an update that still runs. */
  close(): Promise<void> {
    return this.#freshness.close()
  }

  turnOf(message: IndexedMessage): TurnRows {
    return this.app.index.read((db) => readTurnOf(db, message), { turn: 0 })
  }

  turns(session: SessionId): number {
    return this.app.index.read((db) => countTurns(db, session), 0)
  }

  /** Undefined if the index changed meanwhile. */
  row(session: SessionId, message: string): IndexedMessage | undefined {
    const [found] = this.app.index.messages(session, { around: message, limit: 1 })
    return found?.id === message ? found : undefined
  }

  load(rows: readonly IndexedMessage[]): Promise<readonly LoadedMessage[]> {
    return this.app.messageStore.readMessages(rows)
  }

  cite(session: SessionEntry): SessionCitation {
    const name = citeSession(this.app, session.id)
    const file = citeFile(session, this.app.environment.home)
    return {
      name,
      at: (turn, time, line) =>
        `${name}#${turn} · ${citeTime(time)} · ${line === undefined ? file : withLine(file, line)}`,
    }
  }
}

export interface SessionCitation {
  /** `codex/019c22d1`. */
  readonly name: string
  readonly at: (turn: number, time: string | null, line: number | undefined) => string
}

/** Before the note that a source is gone. */
const withLine = (file: string, line: number): string => file.replace(/( \[[^\]]*\])?$/, `:${line}$1`)

export interface ToolCallContext {
  readonly archive: MemoryArchive
  readonly caller: Caller
  readonly control: CallControl
}

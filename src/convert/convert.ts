/** Reads a session with one agent and writes it with another. Nothing here knows which. */
import type { Agent, Source, WriteOptions, Written } from '../agents/agent.ts'
import { breathing } from '../lib/disk/breathing.ts'
import { statOf } from '../lib/files/look.ts'
import { AppError } from '../model/error.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { sizeOf } from '../model/replay/groups.ts'
import { EVERYTHING, Lookout, type Outlook } from '../model/replay/outlook.ts'
import type { Session } from '../model/session.ts'
import { Ledger, type Report } from './ledger.ts'

export interface From {
  readonly agent: Agent
  readonly source: Source
  /** Which of its sessions, by id; the first where none is named. */
  readonly session?: string
  /** What was kept beside the file, put back where it belongs. */
  readonly beside?: (messages: AsyncIterable<NormalizedMessage>) => AsyncIterable<NormalizedMessage>
}

export interface Target {
  readonly agent: Agent
  readonly form?: string
}

export interface ConvertOptions extends Omit<WriteOptions, 'form' | 'outlook'> {
  /** Also what the model no longer knows: turns that were taken back, what stands before a compaction. */
  readonly isWhole?: boolean
  /** What belongs into a file beside the output is kept there; otherwise it is lost, and reported so. */
  readonly hasSidecar?: boolean
}

export interface Conversion {
  readonly session: Session
  /** The output, and what belongs into a file beside it. To be read once. */
  readonly pieces: AsyncIterable<Piece>
  /** Complete when the pieces have been read. */
  report(): Report
}

export type Piece = Extract<Written, { kind: 'bytes' | 'sidecar' }>

/** Throws `bad_usage` when the target is one that nobody writes, `nothing_readable` when there is no such session. */
export async function convert(from: From, target: Target, options: ConvertOptions): Promise<Conversion> {
  const { isWhole, hasSidecar, ...writing } = options
  const held = isShort(from.source) ? new Held() : undefined
  const { session, outlook } = await lookOver(from, held)
  if (!target.agent.write) {
    const { label } = target.agent
    throw new AppError('bad_usage', `${label} cannot be written.`, `${label} の形式では書き込めません。`)
  }
  const ledger = new Ledger(hasSidecar ?? false)
  const messages = noted(messagesOf(from, session, held), ledger)
  const written = target.agent.write(session, messages, {
    ...writing,
    ...(target.form !== undefined && { form: target.form }),
    outlook: isWhole ? { ...EVERYTHING, eventsOnly: outlook.eventsOnly, head: outlook.head } : outlook,
  })
  return { session, pieces: piecesOf(written, ledger), report: () => ledger.report() }
}

/**
 * The first reading: which session, and what only its whole tells.
 * @param held takes the messages for the second one
 */
export async function lookOver(
  from: From,
  held?: Held,
): Promise<{ readonly session: Session; readonly outlook: Outlook }> {
  const lookout = new Lookout()
  let wanted = from.session
  let session: Session | undefined
  const options = { includeSource: true, includePrivate: held !== undefined }
  for await (const batch of breathing(from.agent.read(from.source, options))) {
    held?.next()
    for (const one of batch) {
      if (one.kind === 'session') {
        wanted ??= one.session.id
        if (one.session.id === wanted) session = one.session
      } else if (one.kind === 'message') {
        // A header may come after the messages that told it.
        wanted ??= one.message.raw.session_id
        if (one.message.raw.session_id !== wanted) continue
        lookout.take(one.message)
        held?.take(one.message)
      }
    }
  }
  if (session) return { session, outlook: lookout.outlook() }
  const where = from.source.shown ?? from.source.path
  const which = from.session ? ` ${from.session}` : ''
  throw new AppError(
    'nothing_readable',
    `${where} holds no conversation${which}.`,
    `${where} に会話${which && `${which} `}がありません。`,
  )
}

export function messagesOf(from: From, session: Session, held?: Held): AsyncIterable<NormalizedMessage> {
  const own = held?.isWhole ? held.messages() : ownMessages(from, session)
  return from.beside ? from.beside(own) : own
}

/** The messages of the first reading, as long as they are not too many. */
class Held {
  #batches: NormalizedMessage[][] = []
  #size = 0

  get isWhole(): boolean {
    return this.#size <= MOST_HELD
  }

  next(): void {
    if (this.isWhole) this.#batches.push([])
  }

  take(message: NormalizedMessage): void {
    if (!this.isWhole) return
    this.#size += sizeOf(message)
    if (this.isWhole) this.#batches.at(-1)?.push(message)
    else this.#batches = []
  }

  /** To be read once: what was read is let go. */
  async *messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of breathing(this.#left())) yield* batch
  }

  async *#left(): AsyncGenerator<readonly NormalizedMessage[]> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) yield batch
  }
}

/** In characters: most conversations are shorter. A longer one would cost more memory than a second reading is worth. */
const MOST_HELD = 8_000_000

/** To hold messages for nothing costs more than it could save. */
const isShort = ({ size, path }: Source): boolean => (size ?? statOf(path)?.size ?? 0) <= MOST_HELD

async function* ownMessages({ agent, source }: From, { id }: Session): AsyncGenerator<NormalizedMessage> {
  for await (const batch of breathing(agent.read(source, { includeSource: true, includePrivate: true })))
    for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
}

async function* noted(messages: AsyncIterable<NormalizedMessage>, ledger: Ledger): AsyncGenerator<NormalizedMessage> {
  for await (const message of messages) {
    ledger.read(message)
    yield message
  }
}

async function* piecesOf(written: AsyncIterable<Written>, ledger: Ledger): AsyncGenerator<Piece> {
  for await (const one of written) {
    if (one.kind === 'bytes' || one.kind === 'sidecar') yield one
    else ledger.take(one)
  }
}

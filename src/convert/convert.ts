/** Reads a session with one agent and writes it with another. Nothing here knows which. */
import type { Agent, AgentWriteOptions, Source, WriterOutput } from '../agents/agent.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { withYields } from '../lib/yield-loop.ts'
import { AppError } from '../model/error.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import { characterCountOf } from '../model/replay/pending-steps.ts'
import type { Session } from '../model/session.ts'
import { type SessionFacts, SessionFactsCollector } from '../model/session-facts.ts'
import { LossReportBuilder, type Report } from './loss-report.ts'

export interface ConversionSource {
  readonly agent: Agent
  readonly source: Source
  /** Which of its sessions, by id; the first where none is named. */
  readonly session?: string
  /** What was kept beside the file, put back where it belongs. */
  readonly beside?: (messages: AsyncIterable<NormalizedMessage>) => AsyncIterable<NormalizedMessage>
}

export interface ConversionTarget {
  readonly agent: Agent
  readonly form?: string
}

export interface ConvertOptions extends Omit<AgentWriteOptions, 'form' | 'facts'> {
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

export type Piece = Extract<WriterOutput, { kind: 'bytes' | 'sidecar' }>

/** Throws `bad_usage` when the target is one that nobody writes, `nothing_readable` when there is no such session. */
export async function convert(
  from: ConversionSource,
  target: ConversionTarget,
  options: ConvertOptions,
): Promise<Conversion> {
  const { isWhole: includesAll, hasSidecar, ...writing } = options
  const buffer = fitsBuffer(from.source) ? new MessageBuffer() : undefined
  const { session, facts } = await readSessionFacts(from, buffer)
  if (!target.agent.write) {
    const { label } = target.agent
    throw new AppError('bad_usage', `${label} cannot be written.`, `${label} の形式では書き込めません。`)
  }
  const lossReport = new LossReportBuilder(hasSidecar ?? false)
  const messages = recordRead(readSourceMessages(from, session, buffer), lossReport)
  const written = target.agent.write(session, messages, {
    ...writing,
    ...(target.form !== undefined && { form: target.form }),
    facts: includesAll ? { ...facts, compaction: undefined, isRolledBack: () => false } : facts,
  })
  return { session, pieces: writtenPieces(written, lossReport), report: () => lossReport.report() }
}

/**
 * The first reading: which session, and what only its whole tells.
 * @param buffer takes the messages for the second one
 */
export async function readSessionFacts(
  from: ConversionSource,
  buffer?: MessageBuffer,
): Promise<{ readonly session: Session; readonly facts: SessionFacts }> {
  const factCollector = new SessionFactsCollector()
  let wanted = from.session
  let session: Session | undefined
  const options = { includeSource: true, includePrivate: buffer !== undefined }
  for await (const batch of withYields(from.agent.read(from.source, options))) {
    buffer?.startBatch()
    for (const one of batch) {
      if (one.kind === 'session') {
        wanted ??= one.session.id
        if (one.session.id === wanted) session = one.session
      } else if (one.kind === 'message') {
        // A header may come after the messages that told it.
        wanted ??= one.message.raw.session_id
        if (one.message.raw.session_id !== wanted) continue
        factCollector.add(one.message)
        buffer?.add(one.message)
      }
    }
  }
  if (session) return { session, facts: factCollector.facts() }
  const where = from.source.shown ?? from.source.path
  const which = from.session ? ` ${from.session}` : ''
  throw new AppError(
    'nothing_readable',
    `${where} holds no conversation${which}.`,
    `${where} に会話${which && `${which} `}がありません。`,
  )
}

export function readSourceMessages(
  from: ConversionSource,
  session: Session,
  buffer?: MessageBuffer,
): AsyncIterable<NormalizedMessage> {
  const own = buffer?.isComplete ? buffer.messages() : readOwnMessages(from, session)
  return from.beside ? from.beside(own) : own
}

/** The messages of the first reading, as long as they are not too many. */
class MessageBuffer {
  #batches: NormalizedMessage[][] = []
  #size = 0

  get isComplete(): boolean {
    return this.#size <= MAX_BUFFERED_CHARACTERS
  }

  startBatch(): void {
    if (this.isComplete) this.#batches.push([])
  }

  add(message: NormalizedMessage): void {
    if (!this.isComplete) return
    this.#size += characterCountOf(message)
    if (this.isComplete) this.#batches.at(-1)?.push(message)
    else this.#batches = []
  }

  /** To be read once: what was read is let go. */
  async *messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(this.#drain())) yield* batch
  }

  async *#drain(): AsyncGenerator<readonly NormalizedMessage[]> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) yield batch
  }
}

/** In characters: most conversations are shorter. A longer one would cost more memory than a second reading is worth. */
const MAX_BUFFERED_CHARACTERS = 8_000_000

/** To hold messages for nothing costs more than it could save. */
const fitsBuffer = ({ size, path }: Source): boolean => (size ?? statOf(path)?.size ?? 0) <= MAX_BUFFERED_CHARACTERS

async function* readOwnMessages(
  { agent, source }: ConversionSource,
  { id }: Session,
): AsyncGenerator<NormalizedMessage> {
  for await (const batch of withYields(agent.read(source, { includeSource: true, includePrivate: true })))
    for (const one of batch) if (one.kind === 'message' && one.message.raw.session_id === id) yield one.message
}

async function* recordRead(
  messages: AsyncIterable<NormalizedMessage>,
  lossReport: LossReportBuilder,
): AsyncGenerator<NormalizedMessage> {
  for await (const message of messages) {
    lossReport.read(message)
    yield message
  }
}

async function* writtenPieces(
  written: AsyncIterable<WriterOutput>,
  lossReport: LossReportBuilder,
): AsyncGenerator<Piece> {
  for await (const one of written) {
    if (one.kind === 'bytes' || one.kind === 'sidecar') yield one
    else lossReport.take(one)
  }
}

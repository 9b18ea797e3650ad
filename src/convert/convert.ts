/** Reads a session with one agent and writes it with another. Knows no specific agent. */
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
  /** Id of the session to convert; default: the first one. */
  readonly session?: string
  /** Merges the sidecar into the messages. */
  readonly beside?: (messages: AsyncIterable<NormalizedMessage>) => AsyncIterable<NormalizedMessage>
  /** Applied to the session and to its messages, the sidecar included. */
  readonly filter?: MessageFilter
}

/** Changes what is read before it is written or compared: a `Redactor`, for instance. */
export interface MessageFilter {
  /** Reads all messages of the session before the first one is changed. */
  learn(messages: AsyncIterable<NormalizedMessage>, session: Session): Promise<void>
  session(session: Session): Promise<Session>
  messages(messages: AsyncIterable<NormalizedMessage> | Iterable<NormalizedMessage>): AsyncIterable<NormalizedMessage>
}

export interface ConversionTarget {
  readonly agent: Agent
  readonly form?: string
}

export interface ConvertOptions extends Omit<AgentWriteOptions, 'form' | 'facts'> {
  /** Includes what the model no longer sees: rolled-back turns, messages before a compaction. */
  readonly isWhole?: boolean
  /** A sidecar will be written. Without one, its content is lost and reported. */
  readonly hasSidecar?: boolean
}

export interface Conversion {
  readonly session: Session
  /** The output and its sidecar. Can be read only once. */
  readonly pieces: AsyncIterable<Piece>
  /** Complete after all pieces were read. */
  report(): Report
}

export type Piece = Extract<WriterOutput, { kind: 'bytes' | 'sidecar' }>

/** Throws `bad_usage` if the target cannot be written, `nothing_readable` if there is no such session. */
export async function convert(
  from: ConversionSource,
  target: ConversionTarget,
  options: ConvertOptions,
): Promise<Conversion> {
  const { isWhole: includesAll, hasSidecar, ...writing } = options
  const buffer = fitsBuffer(from.source) ? new MessageBuffer() : undefined
  const { session, facts, beginsElsewhere } = await readSessionFacts(from, buffer)
  if (!target.agent.write) {
    const { label } = target.agent
    throw new AppError('bad_usage', `fumi cannot write the format of ${label}.`, `${label} の形式では書き込めません。`)
  }
  const lossReport = new LossReportBuilder(hasSidecar ?? false)
  if (beginsElsewhere) lossReport.beginsElsewhere()
  const messages = recordRead(readSourceMessages(from, session, buffer), lossReport)
  const written = target.agent.write(session, messages, {
    ...writing,
    ...(target.form !== undefined && { form: target.form }),
    facts: includesAll ? { ...facts, compaction: undefined, isRolledBack: () => false, isDropped: () => false } : facts,
  })
  return { session, pieces: writtenPieces(written, lossReport), report: () => lossReport.report() }
}

interface ReadFacts {
  readonly session: Session
  readonly facts: SessionFacts
  /** The source refers to another log for its beginning. */
  readonly beginsElsewhere: boolean
}

/**
 * The first pass: finds the session and the facts that depend on all of it.
 * @param buffer collects the messages for the second pass
 */
export async function readSessionFacts(from: ConversionSource, buffer?: MessageBuffer): Promise<ReadFacts> {
  const factCollector = new SessionFactsCollector()
  let wanted = from.session
  let session: Session | undefined
  let beginsElsewhere = false
  const options = { includeSource: true, includePrivate: buffer !== undefined, includeBeginning: true }
  for await (const batch of withYields(from.agent.read(from.source, options))) {
    buffer?.startBatch()
    for (const one of batch) {
      if (one.kind === 'session') {
        wanted ??= one.session.id
        if (one.session.id === wanted) session = one.session
      } else if (one.kind === 'issue') {
        if (one.issue.code === 'earlier_history_elsewhere') beginsElsewhere = true
      } else if (one.kind === 'message') {
        // A header may come after its messages.
        wanted ??= one.message.raw.session_id
        if (one.message.raw.session_id !== wanted) continue
        factCollector.add(one.message)
        buffer?.add(one.message)
      }
    }
  }
  if (session) return filterFacts(from, { session, facts: factCollector.facts(), beginsElsewhere })
  const where = from.source.shown ?? from.source.path
  const which = from.session ? ` ${from.session}` : ''
  throw new AppError(
    'nothing_readable',
    `${where} contains no conversation${which}.`,
    `${where} に会話${which && `${which} `}がありません。`,
  )
}

/** The id stays: it finds the messages of the session. */
async function filterFacts(from: ConversionSource, read: ReadFacts): Promise<ReadFacts> {
  const { filter, ...source } = from
  if (!filter) return read
  const { session, facts } = read
  await filter.learn(readSourceMessages(source, session), session)
  const head: NormalizedMessage[] = []
  for await (const message of filter.messages(facts.head)) head.push(message)
  return { ...read, session: { ...(await filter.session(session)), id: session.id }, facts: { ...facts, head } }
}

export function readSourceMessages(
  from: ConversionSource,
  session: Session,
  buffer?: MessageBuffer,
): AsyncIterable<NormalizedMessage> {
  const own = buffer?.isComplete ? buffer.messages() : readOwnMessages(from, session)
  const messages = from.beside ? from.beside(own) : own
  return from.filter ? from.filter.messages(messages) : messages
}

/** Holds the messages of the first pass, up to a limit. */
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

  /** Can be read only once: messages are released as they are read. */
  async *messages(): AsyncGenerator<NormalizedMessage> {
    for await (const batch of withYields(this.#drain())) yield* batch
  }

  async *#drain(): AsyncGenerator<readonly NormalizedMessage[]> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) yield batch
  }
}

/** In characters. Most conversations are shorter; for longer ones, a second pass is cheaper than the memory. */
const MAX_BUFFERED_CHARACTERS = 8_000_000

/** Buffering a conversation that exceeds the limit would be wasted. */
const fitsBuffer = ({ size, path }: Source): boolean => (size ?? statOf(path)?.size ?? 0) <= MAX_BUFFERED_CHARACTERS

async function* readOwnMessages(
  { agent, source }: ConversionSource,
  { id }: Session,
): AsyncGenerator<NormalizedMessage> {
  const options = { includeSource: true, includePrivate: true, includeBeginning: true }
  for await (const batch of withYields(agent.read(source, options)))
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

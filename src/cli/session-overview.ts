/**
 * Reads a complete session before it is shown, because later records may change the meaning of earlier ones. A large one
 * in which none does is shown while it is read.
 */
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { HistorySummary } from '../amazon-q.ts'
import type { App } from '../app.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { isSystemError } from '../lib/files/system-error.ts'
import type { SessionId } from '../model/ids.ts'
import type { Issue } from '../model/issue.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { type SessionFacts, SessionFactsCollector } from '../model/session-facts.ts'
import type { Log } from '../normalize.ts'

export interface SessionOverview {
  readonly session: Session | undefined
  readonly facts: SessionFacts
  readonly issues: readonly Issue[]
  /** Messages about the session itself. Some logs store them last. */
  readonly headerMessages: readonly NormalizedMessage[]
  /** The header message with the state of the conversation. */
  readonly state: NormalizedMessage | undefined
}

/**
 * @param id which session of a log with several
 * @param onMessage is called for each message; reading waits for its promise
 */
export async function readOverview(
  log: Log,
  id: SessionId,
  onMessage?: (message: NormalizedMessage) => Promise<void> | undefined,
): Promise<SessionOverview> {
  let session: Session | undefined
  const issues: Issue[] = []
  const headerMessages: NormalizedMessage[] = []
  const collector = new SessionFactsCollector()
  for await (const batch of catchReaderErrors(log.source, log.agent.read(log.source, { includeBeginning: true }))) {
    for (const one of batch) {
      if (one.kind === 'message' && one.message.raw.session_id === id) {
        if (one.message.raw.line_index === 0) headerMessages.push(one.message)
        const work = onMessage?.(one.message)
        if (work) await work
        collector.add(one.message)
      }
      if (one.kind === 'session' && one.session.id === id) session = one.session
      if (one.kind === 'issue') issues.push(one.issue)
    }
  }
  return {
    session,
    facts: collector.facts(),
    issues,
    headerMessages,
    state: headerMessages.find(({ source_type }) => source_type === 'session'),
  }
}

/** Ordered by number; header messages first. */
export async function* readSessionMessages(
  log: Log,
  { session, headerMessages }: SessionOverview,
): AsyncGenerator<NormalizedMessage> {
  yield* headerMessages
  for await (const batch of catchReaderErrors(log.source, log.agent.read(log.source, { includeBeginning: true }))) {
    for (const one of batch) {
      if (one.kind !== 'message' || one.message.raw.session_id !== session?.id) continue
      if (one.message.raw.line_index > 0) yield one.message
    }
  }
}

/** A session whose messages can be shown. */
export interface OpenConversation {
  readonly session: Session | undefined
  readonly facts: SessionFacts
  /** Complete once the messages were read. */
  readonly issues: readonly Issue[]
  /** The header message with the state of the conversation; undefined if it was not read. */
  readonly state: NormalizedMessage | undefined
  /** Can be read once. */
  readonly messages: AsyncIterable<NormalizedMessage>
}

/** Reading less twice is hardly noticed. */
const MIN_STREAMED_BYTES = 8_000_000

/** @param known the header in the index, which describes the complete session */
export async function openConversation(
  log: Log,
  id: SessionId,
  { known, isComplete = false }: { readonly known?: Session | undefined; readonly isComplete?: boolean } = {},
): Promise<OpenConversation> {
  if (!isComplete && (await canStream(log))) return streamConversation(log, id, known)
  const overview = await readOverview(log, id)
  return { ...overview, messages: readSessionMessages(log, overview) }
}

async function canStream({ agent, source }: Log): Promise<boolean> {
  const isFile = source.bytes === undefined && source.key === undefined
  const size = isFile ? (statOf(source.path)?.size ?? 0) : 0
  if (size < MIN_STREAMED_BYTES || !agent.mayRollBack) return false
  try {
    return !(await agent.mayRollBack(source))
  } catch (error) {
    // Reading reports it.
    if (isSystemError(error)) return false
    throw error
  }
}

/** A session without a prompt has no complete header. */
const MAX_HEADER_MESSAGES = 5000

/** Reads until the header and the first message of the conversation are known. */
async function streamConversation(log: Log, id: SessionId, known: Session | undefined): Promise<OpenConversation> {
  const issues: Issue[] = []
  const collector = new SessionFactsCollector()
  const batches = catchReaderErrors(log.source, log.agent.read(log.source))[Symbol.asyncIterator]()
  const isKnown = known?.path === log.source.path
  let session = isKnown ? known : undefined
  /** Undefined at the end. */
  const nextMessages = async (): Promise<readonly NormalizedMessage[] | undefined> => {
    const { done, value: batch } = await batches.next()
    if (done) return undefined
    const messages: NormalizedMessage[] = []
    for (const one of batch) {
      if (one.kind === 'issue') issues.push(one.issue)
      if (one.kind === 'session' && one.session.id === id && !isKnown) session = one.session
      if (one.kind === 'message' && one.message.raw.session_id === id) messages.push(one.message)
    }
    return messages
  }
  const first: NormalizedMessage[] = []
  const isHeaderKnown = (): boolean => session?.first_prompt !== undefined || first.length > MAX_HEADER_MESSAGES
  while (collector.facts().eventsOnly || !isHeaderKnown()) {
    const messages = await nextMessages()
    if (!messages) break
    for (const message of messages) {
      collector.add(message)
      first.push(message)
    }
  }
  async function* all(): AsyncGenerator<NormalizedMessage> {
    try {
      yield* first.splice(0)
      for (let messages = await nextMessages(); messages; messages = await nextMessages()) yield* messages
    } finally {
      await batches.return?.(undefined)
    }
  }
  return { session, facts: collector.facts(), issues, state: undefined, messages: all() }
}

export async function readHistorySummary(log: Log): Promise<HistorySummary | undefined> {
  for await (const batch of catchReaderErrors(log.source, log.agent.scan(log.source)))
    for (const one of batch) if (one.kind === 'history') return one.summary
  return undefined
}

const MAX_DEPTH = 50

/** A sub-agent may have sub-agents. */
export function rootOf(app: App, session: Session): string {
  let root = session
  for (let depth = 0; depth < MAX_DEPTH && root.relation === 'subagent' && root.parent !== undefined; depth++) {
    const parent = app.index.header(root.parent)
    if (!parent) return root.parent
    root = parent
  }
  return root.id
}

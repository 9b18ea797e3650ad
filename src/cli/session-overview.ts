/** Reads a complete session before it is shown, because later records change the meaning of earlier ones. */
import { catchReaderErrors } from '../agents/catch-reader-errors.ts'
import type { HistorySummary } from '../amazon-q.ts'
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
 * @param onMessage is called for each message
 */
export async function readOverview(
  log: Log,
  id: SessionId,
  onMessage?: (message: NormalizedMessage) => void,
): Promise<SessionOverview> {
  let session: Session | undefined
  const issues: Issue[] = []
  const headerMessages: NormalizedMessage[] = []
  const collector = new SessionFactsCollector()
  for await (const batch of catchReaderErrors(log.source, log.agent.read(log.source, { includeBeginning: true }))) {
    for (const one of batch) {
      if (one.kind === 'message' && one.message.raw.session_id === id) {
        if (one.message.raw.line_index === 0) headerMessages.push(one.message)
        onMessage?.(one.message)
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

export async function readHistorySummary(log: Log): Promise<HistorySummary | undefined> {
  for await (const batch of catchReaderErrors(log.source, log.agent.scan(log.source)))
    for (const one of batch) if (one.kind === 'history') return one.summary
  return undefined
}

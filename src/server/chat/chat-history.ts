/** The history of an open chat as the page shows it, read from the journal through its agent. */
import { agentServing } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import type { LoadedMessage } from '../../app.ts'
import type { MessageItem, Showing } from '../../model/api/message.ts'
import { classify } from '../../model/classify.ts'
import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { type SessionFacts, SessionFactsCollector } from '../../model/session-facts.ts'
import { toMessageItem } from '../view/message-item.ts'
import { pairToolCalls } from '../view/message-window.ts'

export interface ChatHistory {
  readonly messages: readonly MessageItem[]
  readonly earlier: number
}

const MAX_MESSAGES = 300
const SHOWN_KINDS: ReadonlySet<Showing> = new Set(['prompt', 'answer', 'tool', 'reasoning', 'summary'])
/** The agent whose logs our own conversations are. */
const OWN_AGENT = 'fumibako'

export async function readChatHistory(path: string, session: string): Promise<ChatHistory> {
  const agent = agentServing(OWN_AGENT, await allAgents())
  const collector = new SessionFactsCollector()
  const messages: NormalizedMessage[] = []
  for await (const batch of agent.read({ agent: OWN_AGENT, path }))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      collector.add(one.message)
      messages.push(one.message)
    }
  const facts = collector.facts()
  const placed = messages.map((message, offset) => ({ body: toBody(message, facts, session), offset }))
  const pairs = pairToolCalls(placed)
  const rolledBack = new Set(messages.filter(facts.isRolledBack).map(({ id }) => id))
  const options = { isRolledBack: (id: string) => rolledBack.has(id) }
  const all = placed.filter(({ body, offset }) => canShow(body) && !pairs.calls.has(offset))
  const visible = all.slice(-MAX_MESSAGES * 2)
  const items = visible.map((one) => toMessageItem(one, pairs, options)).filter(({ show }) => SHOWN_KINDS.has(show))
  const shown = items.slice(-MAX_MESSAGES)
  return { messages: shown, earlier: all.length - visible.length + items.length - shown.length }
}

const canShow = ({ known }: LoadedMessage): boolean => known.source_type !== 'session' && known.role !== 'meta'

/** The session as the index describes it. Messages from another session belong to this one too, so none counts as replayed. */
function toBody(message: NormalizedMessage, facts: SessionFacts, session: string): LoadedMessage {
  const { id, role, source_type, segments, tool_call } = message
  const { kind, isRepeat } = classify(message, facts)
  const known = {
    ...{ id, row: 0, line: 0, part: 0, role, source_type, locator: {} },
    session: session as SessionId,
    timestamp: recordedTime(message),
    duplicate: isRepeat,
    replayed: false,
    injected: kind === 'context',
    error: tool_call?.status === 'error',
    image: segments.some(({ type }) => type === 'image'),
  }
  return { kind: 'body', known, message }
}

/** What was said in a conversation so far, as the page shows it: read from its journal like every other log. */

import { agentServing } from '../../agents/agent-roots.ts'
import { allAgents } from '../../agents/load-agents.ts'
import type { LoadedMessage } from '../../app.ts'
import type { MessageItem, Showing } from '../../model/api/message.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { toMessageItem } from '../view/message/message-item.ts'
import { type BodyAtOffset, pairToolCalls } from '../view/message/pair-calls.ts'

export interface ChatHistory {
  readonly messages: readonly MessageItem[]
  /** Messages before these. */
  readonly earlier: number
}

const MAX_MESSAGES = 300
const SHOWN_KINDS: ReadonlySet<Showing> = new Set(['prompt', 'answer', 'tool', 'reasoning', 'summary'])
/** The agent whose logs our own conversations are. */
const OWN_AGENT = 'fumibako'

/** @param path of the journal */
export async function readChatHistory(path: string, session: string): Promise<ChatHistory> {
  const agent = agentServing(OWN_AGENT, await allAgents())
  const placed: BodyAtOffset[] = []
  const rolledBackIds = new Set<string>()
  for await (const batch of agent.read({ agent: OWN_AGENT, path })) {
    for (const one of batch) {
      if (one.kind !== 'message') continue
      for (const id of (one.message.metadata?.['rolled_back'] ?? []) as readonly string[]) rolledBackIds.add(id)
      placed.push({ body: toBody(one.message, session), offset: placed.length })
    }
  }
  const pairs = pairToolCalls(placed)
  const rolledBack = completeEntries(placed, rolledBackIds)
  const options = { isRolledBack: (id: string) => rolledBack.has(id) }
  const visible = placed
    .filter(({ body, offset }) => canShow(body) && !pairs.calls.has(offset))
    .slice(-MAX_MESSAGES * 2)
  const items = visible.map((one) => toMessageItem(one, pairs, options)).filter(({ show }) => SHOWN_KINDS.has(show))
  const first = items.slice(-MAX_MESSAGES)[0]
  return { messages: items.slice(-MAX_MESSAGES), earlier: first?.offset ?? 0 }
}

/** A log names the first message of an entry that was taken back; the others went with it. */
function completeEntries(placed: readonly BodyAtOffset[], firsts: ReadonlySet<string>): ReadonlySet<string> {
  const rolledBack = new Set<string>()
  let isRolledBackEntry = false
  let before = ''
  for (const { body } of placed) {
    const { id, role, source_type } = body.known
    if (role === 'meta') continue
    const begins = role === 'user' || (source_type === 'tool_result' && before !== 'tool_result')
    if (firsts.has(id)) isRolledBackEntry = true
    else if (begins) isRolledBackEntry = false
    if (isRolledBackEntry) rolledBack.add(id)
    before = source_type
  }
  return rolledBack
}

const canShow = ({ known }: LoadedMessage): boolean => known.source_type !== 'session' && known.role !== 'meta'

/** What came from another conversation belongs to this one too. */
function toBody(message: NormalizedMessage, session: string): LoadedMessage {
  const { id, role, source_type, segments, tool_call, metadata, timestamp } = message
  const known = {
    ...{
      id,
      row: 0,
      session: session as SessionId,
      timestamp: timestamp as Instant,
      line: 0,
      part: 0,
      role,
      source_type,
      locator: {},
    },
    duplicate: metadata?.['duplicate_of'] !== undefined,
    replayed: false,
    injected: metadata?.['injected'] === true,
    error: tool_call?.status === 'error',
    image: segments.some(({ type }) => type === 'image'),
  }
  return { kind: 'body', known, message }
}

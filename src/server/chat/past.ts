/** What was said in a conversation so far, as the page shows it: read from its journal like every other log. */

import { allAgents } from '../../agents/all.ts'
import { agentServing } from '../../agents/roots.ts'
import type { Body } from '../../app.ts'
import type { MessageItem, Showing } from '../../model/api/message.ts'
import type { Instant, SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { joined, type Placed } from '../view/message/joined.ts'
import { messageItem } from '../view/message/message-item.ts'

export interface Past {
  readonly messages: readonly MessageItem[]
  /** Messages before these. */
  readonly earlier: number
}

const MOST = 300
const SHOWN: ReadonlySet<Showing> = new Set(['prompt', 'answer', 'tool', 'reasoning', 'summary'])
/** The agent whose logs our own conversations are. */
const OWN = 'fumibako'

/** @param path of the journal */
export async function pastOf(path: string, session: string): Promise<Past> {
  const agent = agentServing(OWN, await allAgents())
  const placed: Placed[] = []
  const takenBack = new Set<string>()
  for await (const batch of agent.read({ agent: OWN, path })) {
    for (const one of batch) {
      if (one.kind !== 'message') continue
      for (const id of (one.message.metadata?.['rolled_back'] ?? []) as readonly string[]) takenBack.add(id)
      placed.push({ body: bodyOf(one.message, session), offset: placed.length })
    }
  }
  const joins = joined(placed)
  const back = wholeEntries(placed, takenBack)
  const options = { isRolledBack: (id: string) => back.has(id) }
  const shown = placed.filter(({ body, offset }) => mayShow(body) && !joins.calls.has(offset)).slice(-MOST * 2)
  const items = shown.map((one) => messageItem(one, joins, options)).filter(({ show }) => SHOWN.has(show))
  const first = items.slice(-MOST)[0]
  return { messages: items.slice(-MOST), earlier: first?.offset ?? 0 }
}

/** A log names the first message of an entry that was taken back; the others went with it. */
function wholeEntries(placed: readonly Placed[], firsts: ReadonlySet<string>): ReadonlySet<string> {
  const back = new Set<string>()
  let isBack = false
  let before = ''
  for (const { body } of placed) {
    const { id, role, source_type } = body.known
    if (role === 'meta') continue
    const begins = role === 'user' || (source_type === 'tool_result' && before !== 'tool_result')
    if (firsts.has(id)) isBack = true
    else if (begins) isBack = false
    if (isBack) back.add(id)
    before = source_type
  }
  return back
}

const mayShow = ({ known }: Body): boolean => known.source_type !== 'session' && known.role !== 'meta'

/** What came from another conversation belongs to this one too. */
function bodyOf(message: NormalizedMessage, session: string): Body {
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

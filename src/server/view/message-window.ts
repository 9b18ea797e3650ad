/** Reads a window of a session's messages, with calls and results paired. */
import type { LoadedMessage, SessionEntry } from '../../app.ts'
import type { MessageItem } from '../../model/api/message.ts'
import { toolKindOf } from '../../model/tool-names.ts'
import type { ServerContext } from '../context.ts'
import { type MessageItemOptions, toMessageItem } from './message-item.ts'

interface MessageWindowRequest {
  readonly offset?: number
  readonly around?: string
  readonly after?: string
  readonly before?: string
  readonly end?: true
  readonly limit: number
}

type MessageVariant = Pick<MessageItemOptions, 'variant' | 'inline'>

interface MessageItemWindow {
  readonly items: readonly MessageItem[]
  readonly offset: number
  readonly total: number
}

type IndexedMessage = ReturnType<ServerContext['app']['index']['messages']>[number]

export async function readWindowItems(
  context: ServerContext,
  entry: SessionEntry,
  window: MessageWindowRequest,
  variant: MessageVariant,
): Promise<MessageItemWindow> {
  const { messages, offset, total } = context.app.index.window(
    entry.id,
    window,
    context.layouts.near(entry, window.offset ?? 0),
  )
  const placed = await readBodies(context, messages, offset)
  const pairs = await pairWithNeighbours(context, entry, placed)
  const options = { ...variant, ...factTests(context, entry), childOf: childFinder(context, entry) }
  return { items: placed.map((one) => toMessageItem(one, pairs, options)), offset, total }
}

/** Undefined if there is no such message. */
export async function readMessageItem(
  context: ServerContext,
  entry: SessionEntry,
  id: string,
  variant: MessageVariant,
): Promise<MessageItem | undefined> {
  const { messages, offset } = context.app.index.window(
    entry.id,
    { around: id, limit: 1 },
    context.layouts.known(entry),
  )
  if (messages[0]?.id !== id) return undefined
  const placed = await readBodies(context, messages, offset)
  const pairs = await pairWithNeighbours(context, entry, placed)
  const options = {
    ...variant,
    whole: true,
    ...factTests(context, entry),
    childOf: childFinder(context, entry),
  }
  return placed.map((one) => toMessageItem(one, pairs, options))[0]
}

/** Roll-backs and compactions are known once the log was read to its end. */
function factTests(
  context: ServerContext,
  entry: SessionEntry,
): Required<Pick<MessageItemOptions, 'isRolledBack' | 'isDropped'>> {
  const facts = context.tallies.known(entry)?.facts()
  return {
    isRolledBack: (id) => facts?.isRolledBack({ id }) ?? false,
    isDropped: (id) => facts?.isDropped({ id }) ?? false,
  }
}

/** Sub-agents are found by the call that they name, else by their id in its result. */
function childFinder({ app }: ServerContext, entry: SessionEntry): NonNullable<MessageItemOptions['childOf']> {
  if (entry.children === 0) return () => undefined
  let children: readonly SubAgent[] | undefined
  return (call, result) => {
    if (toolKindOf(call) !== 'agent') return undefined
    children ??= app
      .list({ children: { of: entry.id }, limit: MAX_CHILDREN, kind: 'any' })
      .sessions.filter(({ relation }) => relation === 'subagent')
      .map(({ id, native_id }) => {
        const own = native_id.replace(/^agent-/, '')
        return { id, own, call: app.index.header(id)?.parent_call }
      })
    const named = children.find((one) => one.call !== undefined && one.call === call.call_id)
    if (named) return named.id
    const text = result && JSON.stringify([result.metadata, result.tool_call?.output])
    return children.find(({ own }) => text?.includes(own))?.id
  }
}

interface SubAgent {
  readonly id: string
  /** Its id without what only its file's name has. */
  readonly own: string
  readonly call: string | undefined
}

const MAX_CHILDREN = 500

async function readBodies(
  { app }: ServerContext,
  messages: readonly IndexedMessage[],
  offset: number,
): Promise<readonly BodyAtOffset[]> {
  const bodies = await app.messageStore.readMessages(messages, { includePrivate: true })
  return bodies.map((body, at) => ({ body, offset: offset + at }))
}

/** Also finds the other half of calls and results near the ends of the window. */
async function pairWithNeighbours(
  context: ServerContext,
  entry: SessionEntry,
  placed: readonly BodyAtOffset[],
): Promise<CallPairs> {
  const first = placed[0]
  const last = placed.at(-1)
  const windowPairs = pairToolCalls(placed)
  if (!first || !last) return windowPairs
  const isNearStart = (offset: number): boolean => offset - first.offset < MAX_PAIR_DISTANCE
  const isNearEnd = (offset: number): boolean => last.offset - offset < MAX_PAIR_DISTANCE
  const openResults = findUnpaired(placed, 'tool_result', windowPairs.calls, isNearStart)
  const openCalls = findUnpaired(placed, 'tool_call', windowPairs.results, isNearEnd)
  const { index } = context.app
  const before =
    openResults.size === 0 ? [] : index.messages(entry.id, { before: first.body.known.id, limit: MAX_PAIR_DISTANCE })
  const after =
    openCalls.size === 0 ? [] : index.messages(entry.id, { after: last.body.known.id, limit: MAX_PAIR_DISTANCE })
  if (before.length + after.length === 0) return windowPairs
  const earlier = before.map((known, at) => ({ known, offset: first.offset - before.length + at })).reverse()
  const later = after.map((known, at) => ({ known, offset: last.offset + 1 + at }))
  const calls = await readCounterparts(context, earlier, 'tool_call', openResults)
  const results = await readCounterparts(context, later, 'tool_result', openCalls)
  return pairToolCalls([...calls.toReversed(), ...placed, ...results])
}

/** Ids of unpaired calls or results whose other half may be near. */
function findUnpaired(
  placed: readonly BodyAtOffset[],
  type: 'tool_call' | 'tool_result',
  has: CallPairs['calls'],
  isNear: (offset: number) => boolean,
): Set<string> {
  const openCalls = new Set<string>()
  for (const { body, offset } of placed) {
    if (body.kind === 'gone' || body.known.source_type !== type || has.has(offset) || !isNear(offset)) continue
    const id = body.message.tool_call?.call_id
    if (id) openCalls.add(id)
  }
  return openCalls
}

interface NearbyMessage {
  readonly known: IndexedMessage
  readonly offset: number
}

/** @param near the nearest first */
async function readCounterparts(
  { app }: ServerContext,
  near: readonly NearbyMessage[],
  type: 'tool_call' | 'tool_result',
  wanted: Set<string>,
): Promise<readonly BodyAtOffset[]> {
  const counterparts: BodyAtOffset[] = []
  for (const { known, offset } of near) {
    if (wanted.size === 0) break
    if (known.source_type !== type) continue
    const [body] = await app.messageStore.readMessages([known])
    if (body?.kind !== 'body') continue
    if (wanted.delete(body.message.tool_call?.call_id ?? '')) counterparts.push({ body, offset })
  }
  return counterparts
}

/** A result further from its call than this is shown on its own. */
const MAX_PAIR_DISTANCE = 64

/** A message with its offset in the session. */
export interface BodyAtOffset {
  readonly body: LoadedMessage
  readonly offset: number
}

export interface CallPairs {
  /** Results by the offset of their call. */
  readonly results: ReadonlyMap<number, BodyAtOffset>
  /** Calls by the offset of their result. */
  readonly calls: ReadonlyMap<number, BodyAtOffset>
}

/** Pairs each result with the last call of its id before it. @param bodies in the order of the session */
export function pairToolCalls(bodies: readonly BodyAtOffset[]): CallPairs {
  const results = new Map<number, BodyAtOffset>()
  const calls = new Map<number, BodyAtOffset>()
  const open = new Map<string, BodyAtOffset>()
  for (const placed of bodies) {
    const id = callIdOf(placed.body)
    if (id === undefined) continue
    if (placed.body.known.source_type === 'tool_call') open.set(id, placed)
    const call = placed.body.known.source_type === 'tool_result' ? open.get(id) : undefined
    if (!call) continue
    open.delete(id)
    if (placed.offset - call.offset > MAX_PAIR_DISTANCE) continue
    results.set(call.offset, placed)
    calls.set(placed.offset, call)
  }
  return { results, calls }
}

function callIdOf(body: LoadedMessage): string | undefined {
  if (body.kind === 'gone' || body.known.duplicate) return undefined
  return body.message.tool_call?.call_id ?? undefined
}

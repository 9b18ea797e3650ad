/** A stretch of a session as items, calls and results brought together. */
import type { Entry } from '../../../app.ts'
import type { MessageItem } from '../../../model/api/message.ts'
import type { HouseView } from '../../house-view.ts'
import { type Joined, joined, NEAR, type Placed } from './joined.ts'
import { type ItemOptions, messageItem } from './message-item.ts'

export interface WindowPlace {
  readonly offset?: number
  readonly around?: string
  readonly after?: string
  readonly before?: string
  readonly end?: true
  readonly limit: number
}

export type WindowVariant = Pick<ItemOptions, 'variant' | 'inline'>

export interface WindowItems {
  readonly items: readonly MessageItem[]
  readonly offset: number
  readonly total: number
}

type Known = ReturnType<HouseView['house']['index']['messages']>[number]

export async function windowItems(
  view: HouseView,
  entry: Entry,
  place: WindowPlace,
  variant: WindowVariant,
): Promise<WindowItems> {
  const { messages, offset, total } = view.house.index.window(
    entry.id,
    place,
    view.layouts.near(entry, place.offset ?? 0),
  )
  const placed = await bodiesOf(view, entry, messages, offset)
  const joins = await joinsOf(view, entry, placed)
  const options = { ...variant, isRolledBack: rolledBackIn(view, entry) }
  return { items: placed.map((one) => messageItem(one, joins, options)), offset, total }
}

/** Nothing when there is no such message. */
export async function oneItem(
  view: HouseView,
  entry: Entry,
  id: string,
  variant: WindowVariant,
): Promise<MessageItem | undefined> {
  const { messages, offset } = view.house.index.window(entry.id, { around: id, limit: 1 }, view.layouts.known(entry))
  if (messages[0]?.id !== id) return undefined
  const placed = await bodiesOf(view, entry, messages, offset)
  const joins = await joinsOf(view, entry, placed)
  const options = { ...variant, whole: true, isRolledBack: rolledBackIn(view, entry) }
  return placed.map((one) => messageItem(one, joins, options))[0]
}

/** As far as the log was read to its end already. */
function rolledBackIn(view: HouseView, entry: Entry): ItemOptions['isRolledBack'] {
  const tally = view.outlines.known(entry)
  return (id) => tally?.isRolledBack(id) ?? false
}

async function bodiesOf(
  view: HouseView,
  { id }: Entry,
  messages: readonly Known[],
  offset: number,
): Promise<readonly Placed[]> {
  const bodies = await (await view.house.reading()).bodies(id, messages, { includePrivate: true })
  return bodies.map((body, at) => ({ body, offset: offset + at }))
}

/** Looks a little before and after the window, where a call or a result in it has its other half. */
async function joinsOf(view: HouseView, entry: Entry, placed: readonly Placed[]): Promise<Joined> {
  const first = placed[0]
  const last = placed.at(-1)
  const within = joined(placed)
  if (!first || !last) return within
  const asked = openIn(placed, 'tool_result', within.calls, (offset) => offset - first.offset < NEAR)
  const open = openIn(placed, 'tool_call', within.results, (offset) => last.offset - offset < NEAR)
  const { index } = view.house
  const before = asked.size === 0 ? [] : index.messages(entry.id, { before: first.body.known.id, limit: NEAR })
  const after = open.size === 0 ? [] : index.messages(entry.id, { after: last.body.known.id, limit: NEAR })
  if (before.length + after.length === 0) return within
  const earlier = before.map((known, at) => ({ known, offset: first.offset - before.length + at })).reverse()
  const later = after.map((known, at) => ({ known, offset: last.offset + 1 + at }))
  const calls = await found(view, entry, earlier, 'tool_call', asked)
  const results = await found(view, entry, later, 'tool_result', open)
  return joined([...calls.toReversed(), ...placed, ...results])
}

/** Ids of calls that lack their other half, where that may be near. */
function openIn(
  placed: readonly Placed[],
  type: 'tool_call' | 'tool_result',
  has: Joined['calls'],
  isNear: (offset: number) => boolean,
): Set<string> {
  const open = new Set<string>()
  for (const { body, offset } of placed) {
    if (body.kind === 'gone' || body.known.source_type !== type || has.has(offset) || !isNear(offset)) continue
    const id = body.message.tool_call?.call_id
    if (id) open.add(id)
  }
  return open
}

interface Near {
  readonly known: Known
  readonly offset: number
}

/** The nearest first, and no more than are needed. */
async function found(
  view: HouseView,
  entry: Entry,
  near: readonly Near[],
  type: 'tool_call' | 'tool_result',
  wanted: Set<string>,
): Promise<readonly Placed[]> {
  const reading = await view.house.reading()
  const halves: Placed[] = []
  for (const { known, offset } of near) {
    if (wanted.size === 0) break
    if (known.source_type !== type) continue
    const [body] = await reading.bodies(entry.id, [known])
    if (body?.kind !== 'body') continue
    if (wanted.delete(body.message.tool_call?.call_id ?? '')) halves.push({ body, offset })
  }
  return halves
}

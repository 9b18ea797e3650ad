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
  const { messages, offset, total } = view.house.index.window(entry.id, place)
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
  const { messages, offset } = view.house.index.window(entry.id, { around: id, limit: 1 })
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
  const lacks = (type: 'tool_call' | 'tool_result', found: Joined['calls'], from: number, to: number): boolean =>
    placed.some(
      ({ body, offset }) =>
        body.known.source_type === type && offset >= from && offset <= to && !found.has(offset) && body.kind === 'body',
    )
  const before = lacks('tool_result', within.calls, first.offset, first.offset + NEAR)
    ? view.house.index.messages(entry.id, { before: first.body.known.id, limit: NEAR })
    : []
  const after = lacks('tool_call', within.results, last.offset - NEAR, last.offset)
    ? view.house.index.messages(entry.id, { after: last.body.known.id, limit: NEAR })
    : []
  if (before.length + after.length === 0) return within
  const near = async (messages: readonly Known[], offset: number, type: string): Promise<readonly Placed[]> => {
    const meant = messages.map((known, at) => ({ known, at })).filter(({ known }) => known.source_type === type)
    const bodies = await (await view.house.reading()).bodies(
      entry.id,
      meant.map(({ known }) => known),
    )
    return bodies.map((body, at) => ({ body, offset: offset + (meant[at]?.at ?? 0) }))
  }
  return joined([
    ...(await near(before, first.offset - before.length, 'tool_call')),
    ...placed,
    ...(await near(after, last.offset + 1, 'tool_result')),
  ])
}

/** Searches through what the index leaves out: bodies of long output, and logs that are not read yet. Finds all that can be read. */
import { setImmediate } from 'node:timers/promises'
import type { Source } from '../../agents/agent.ts'
import type { SessionFilter } from '../../archive/get/filter.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Keep } from '../../archive/keep.ts'
import { cutIn, type Unsure, unsureSessions } from '../../archive/search/left.ts'
import { isIndexed } from '../../archive/search/rows.ts'
import { candidatesOf } from '../../archive/search.ts'
import { PatternTime } from '../../archive/text/patterns.ts'
import type { Query, QueryProblem } from '../../archive/text/query.ts'
import { readAt } from '../../lib/bytes.ts'
import type { SessionId } from '../../model/ids.ts'
import { sourceAt } from '../keep/sources.ts'
import { agentOf } from '../passes/work.ts'
import { type Finder, type Located, located } from './find.ts'
import { hitsInLog } from './from-log.ts'
import type { Hit } from './hit.ts'
import { mayHold } from './may-hold.ts'
import { type RawTest, rawTestOf } from './raw-needle.ts'

export interface DeepOptions {
  readonly filter?: SessionFilter
  readonly signal?: AbortSignal
}

export type DeepEvent =
  | QueryProblem
  | { readonly kind: 'hit'; readonly hit: Hit }
  /** So many of the sessions that the index does not know fully have been looked through. */
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  /** So many sessions were not searched to the end: their log cannot be read, or the query's patterns take too long in it. */
  | { readonly kind: 'end'; readonly unread: number }

/** The first ones are wanted at once. */
const FIRST_PAGE = 20
const PAGE = 200
/** Others in this process have their turn after so many milliseconds. */
const BREATH = 10
/** After so many logs in which a pattern took all the time that it has, no other is tried: each stops everybody for a second. */
const MOST_SLOW = 5

interface Search {
  readonly query: Query
  readonly reader: IndexReader
  readonly finder: Finder
  readonly signal: AbortSignal | undefined
  readonly unread: Set<SessionId>
}

/** In one log. */
interface LogSearch extends Search {
  readonly time: PatternTime
}

export async function* deepSearch(
  text: string,
  { reader, finder, keep }: { readonly reader: IndexReader; readonly finder: Finder; readonly keep: () => Keep },
  { filter, signal }: DeepOptions = {},
): AsyncGenerator<DeepEvent> {
  const query = finder.query(text)
  if (query.kind === 'problem') return yield query
  const search: Search = { query, reader, finder, signal, unread: new Set() }
  for await (const hit of fromIndex(search, filter)) yield { kind: 'hit', hit }
  const unsure = reader.read((db) => unsureSessions(db, query, filter), [])
  const test = rawTestOf(query)
  let breath = performance.now()
  let done = 0
  let tries = MOST_SLOW
  for (const sessions of bySource(unsure)) {
    if (signal?.aborted) return
    yield { kind: 'progress', done, total: unsure.length }
    done += sessions.length
    if (tries === 0) {
      for (const { name } of sessions) search.unread.add(name)
      continue
    }
    const source = sourceOf(sessions[0], keep)
    const time = new PatternTime()
    if (source && (!test || (await mayHold(source, test(), signal))))
      for await (const hit of fromSource({ ...search, time }, sessions, source, test)) yield { kind: 'hit', hit }
    if (!source || time.isUp) for (const { name } of sessions) search.unread.add(name)
    if (time.isUp) tries--
    if (performance.now() - breath < BREATH) continue
    await setImmediate()
    breath = performance.now()
  }
  yield { kind: 'progress', done: unsure.length, total: unsure.length }
  yield { kind: 'end', unread: search.unread.size }
}

async function* fromIndex(
  { query, reader, finder, signal, unread }: Search,
  filter?: SessionFilter,
): AsyncGenerator<Hit> {
  let limit = FIRST_PAGE
  for (let before: number | undefined; !signal?.aborted; limit = PAGE) {
    const options = { limit, ...(filter && { filter }), ...(before !== undefined && { before }) }
    const page = reader.read((db) => located(db, candidatesOf(db, query, options)), [])
    for (const { hit } of await finder.look(query, page, { unread })) yield hit
    before = page.at(-1)?.candidate.row
    if (before === undefined) return
  }
}

type Group = readonly [Unsure, ...Unsure[]]

/** Sessions that one source holds are looked for together, when the turn of the newest comes. */
function bySource(sessions: readonly Unsure[]): Iterable<Group> {
  const groups = new Map<string, [Unsure, ...Unsure[]]>()
  for (const session of sessions) {
    const key = session.claim === undefined ? session.name : `${session.agent}\n${session.path}`
    const group = groups.get(key)
    if (group) group.push(session)
    else groups.set(key, [session])
  }
  return groups.values()
}

async function* fromSource(
  search: LogSearch,
  sessions: Group,
  source: Source,
  test: (() => RawTest) | undefined,
): AsyncGenerator<Hit> {
  for (const session of sessions) if (session.indexed) yield* fromCut(search, session, test)
  const missing = sessions.filter(({ indexed }) => !indexed)
  if (missing.length > 0) yield* hitsInLog(search, missing, await agentOf(source.agent), source)
}

/** Messages of which only head and tail are in the index. */
async function* fromCut(
  { query, reader, finder, signal, unread, time }: LogSearch,
  session: Unsure,
  test: (() => RawTest) | undefined,
): AsyncGenerator<Hit> {
  const agent = await agentOf(session.agent)
  const cut = reader.read((db) => located(db, cutIn(db, query, session.session)), [])
  const rest: Located[] = []
  for (const one of cut) {
    const span = agent.span?.(one.candidate.locator)
    if (span && test && !session.kept && !(await spanMayHold(session.path, span, test()))) continue
    rest.push(one)
  }
  for (let at = 0; at < rest.length && !signal?.aborted; at += PAGE) {
    const page = rest.slice(at, at + PAGE)
    const unknown = reader.read((db) => page.filter(({ candidate }) => !isIndexed(db, query, candidate.row)), [])
    for (const { hit } of await finder.look(query, unknown, { isDoubtful: true, unread, time })) yield hit
  }
}

/** By the bytes of one message. What can no longer be read is looked at as a message that is gone. */
async function spanMayHold(path: string, [offset, length]: readonly [number, number], test: RawTest): Promise<boolean> {
  try {
    return test.piece(await readAt(path, offset, length)) || test.mayHold()
  } catch {
    return true
  }
}

function sourceOf(session: Unsure, keep: () => Keep): Source | undefined {
  try {
    return sourceAt(session, keep, session.claim === undefined ? session.name : undefined)
  } catch {
    return undefined
  }
}

/** Searches through what the index leaves out: bodies of long output, and logs that are not read yet. Finds everything. */
import type { Agent, Source } from '../../agents/agent.ts'
import type { SessionFilter } from '../../archive/get/filter.ts'
import type { IndexReader } from '../../archive/get.ts'
import type { Keep } from '../../archive/keep.ts'
import { isFound, kindOf } from '../../archive/rows/kind.ts'
import { candidatesOf, cutIn, isIndexed, type Unsure, unsureSessions } from '../../archive/search.ts'
import { matches } from '../../archive/text/matches.ts'
import { parseQuery } from '../../archive/text/parse-query.ts'
import type { Query, QueryProblem } from '../../archive/text/query.ts'
import { openFile } from '../../lib/bytes.ts'
import { sourceAt } from '../keep/sources.ts'
import { agentOf } from '../passes/work.ts'
import { type Finder, fieldsOf, type Hit, hitOf } from './find.ts'
import { OVERLAP, type RawTest, rawTestOf } from './raw-needle.ts'

export interface DeepOptions {
  readonly filter?: SessionFilter
  readonly signal?: AbortSignal
}

export type DeepEvent =
  | QueryProblem
  | { readonly kind: 'hit'; readonly hit: Hit }
  /** So many of the sessions that the index does not know fully have been looked through. */
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }

const PAGE = 200

export async function* deepSearch(
  text: string,
  { reader, finder, keep }: { readonly reader: IndexReader; readonly finder: Finder; readonly keep: () => Keep },
  options: DeepOptions = {},
): AsyncGenerator<DeepEvent> {
  const query = parseQuery(text)
  if (query.kind === 'problem') return yield query
  yield* fromIndex(query, reader, finder, options)
  const unsure = reader.read((db) => unsureSessions(db, query, options.filter), [])
  const test = rawTestOf(query)
  for (const [done, session] of unsure.entries()) {
    if (options.signal?.aborted) return
    yield { kind: 'progress', done, total: unsure.length }
    const source = sourceOf(session, keep)
    if (!source || (test && !(await mayHold(source, test())))) continue
    if (session.indexed) yield* fromCut(query, session, reader, finder)
    else yield* fromLog(query, session, await agentOf(session.agent), source, reader)
  }
  yield { kind: 'progress', done: unsure.length, total: unsure.length }
}

async function* fromIndex(
  query: Query,
  reader: IndexReader,
  finder: Finder,
  { filter, signal }: DeepOptions,
): AsyncGenerator<DeepEvent> {
  for (let before: number | undefined; !signal?.aborted; ) {
    const options = { limit: PAGE, ...(filter && { filter }), ...(before !== undefined && { before }) }
    const page = reader.read((db) => candidatesOf(db, query, options), [])
    for (const candidate of page) {
      const found = await finder.look(query, candidate)
      if (found) yield { kind: 'hit', hit: found.hit }
    }
    before = page.at(-1)?.row
    if (before === undefined) return
  }
}

/** Messages of which only head and tail are in the index. */
async function* fromCut(query: Query, session: Unsure, reader: IndexReader, finder: Finder): AsyncGenerator<DeepEvent> {
  for (const candidate of reader.read((db) => cutIn(db, query, session.session), [])) {
    if (reader.read((db) => isIndexed(db, query, candidate.row), false)) continue
    const found = await finder.look(query, candidate, { isDoubtful: true })
    if (found) yield { kind: 'hit', hit: found.hit }
  }
}

/** A session that is not in the index, or not to its end. */
async function* fromLog(
  query: Query,
  { name }: Unsure,
  agent: Agent,
  source: Source,
  reader: IndexReader,
): AsyncGenerator<DeepEvent> {
  const repeated = new Set<string>()
  const found: { readonly id: string; readonly hit: Hit }[] = []
  const known = new Set(
    reader
      .read((db) => candidatesOf(db, query, { limit: 1e6, filter: { ids: [name], kind: 'any' } }), [])
      .map(({ id }) => id),
  )
  for await (const batch of agent.read(source))
    for (const one of batch) {
      if (one.kind !== 'message') continue
      const { message } = one
      const duplicates = message.metadata?.['duplicates']
      if (Array.isArray(duplicates)) for (const id of duplicates) repeated.add(String(id))
      if (!isFound(kindOf(message)) || known.has(message.id)) continue
      const fields = fieldsOf(message, query)
      if (matches(query, fields)) found.push({ id: message.id, hit: hitOf(query, message, name, fields) })
    }
  for (const { id, hit } of found) if (!repeated.has(id)) yield { kind: 'hit', hit }
}

function sourceOf(session: Unsure, keep: () => Keep): Source | undefined {
  try {
    return sourceAt(session, keep, session.name)
  } catch {
    return undefined
  }
}

const PIECE = 1 << 20

/** By its raw bytes. */
async function mayHold(source: Source, test: RawTest): Promise<boolean> {
  if (source.bytes) return test.piece(Buffer.from(source.bytes).toString('latin1')) || test.mayHold()
  if (source.key !== undefined) return true
  try {
    const file = openFile(source.path)
    try {
      let rest = ''
      let piece = ''
      for await (const chunk of file.chunks(0)) {
        piece += chunk.toString('latin1')
        if (piece.length < PIECE) continue
        if (test.piece(rest + piece)) return true
        rest = piece.slice(-OVERLAP)
        piece = ''
      }
      return (piece !== '' && test.piece(rest + piece)) || test.mayHold()
    } finally {
      file.close()
    }
  } catch {
    return false
  }
}

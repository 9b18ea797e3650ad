/**
 * Searches what a person may read. The database finds candidates by hashed words, newest first; the text of each is
 * then compared with the query by the same code as in the local search.
 */

import type { SessionId } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { recordedTime } from '../../model/recorded-time.ts'
import { bestSnippet, DEFAULT_SNIPPET_LENGTH, type MessageHit, searchFieldsOf, withoutKeys } from '../../search/hit.ts'
import { matchesQuery, PatternTimeLimit } from '../../search/matching.ts'
import { parseQuery } from '../../search/query/parse-query.ts'
import type { ParsedQuery, QueryProblem } from '../../search/query/query.ts'
import { keyFromNumber, keyToNumber } from '../hash-chain.ts'
import type { TeamDatabase, Transaction } from '../postgres/database.ts'
import { SESSION_ID, teamSessionId } from '../protocol.ts'
import { likePattern, type TeamFilter } from './list-sessions.ts'
import { type SearchPlan, searchPlanOf } from './search-plan.ts'

export interface TeamSearchOptions {
  readonly filter?: TeamFilter
  readonly limit?: number
  /** `next` of the answer before. */
  readonly after?: number | undefined
  /** Names of people by number, to resolve filters. */
  readonly people: ReadonlyMap<number, string>
  /** Milliseconds for looking at candidates. */
  readonly patience?: number
}

export type TeamSearchAnswer =
  | QueryProblem
  | {
      readonly kind: 'found'
      readonly hits: readonly MessageHit[]
      /** False: time ran out, or a prefix has too many words. There may be more hits. */
      readonly isComplete: boolean
      /** Keys of sessions whose titles match. */
      readonly titles: readonly string[]
      readonly next?: number
    }

const DEFAULT_LIMIT = 20
/** The newest rows that are read before the index is asked. */
const PROBE_ROWS = 2000
const PATIENCE_MS = 1500
/** Candidates of one call. A phrase rejects most of them. */
const FIRST_CANDIDATES = 25
const MAX_CANDIDATES = 400

/** @param databases sessions may be spread over several: each is asked, and the newest hits of all are returned */
export async function searchTeam(
  databases: readonly TeamDatabase[],
  person: number,
  text: string,
  options: TeamSearchOptions,
): Promise<TeamSearchAnswer> {
  const query = parseQuery(text)
  if (query.kind === 'problem') return query
  const answers = await Promise.all(databases.map((database) => searchOne(database, person, query, options)))
  const { limit = DEFAULT_LIMIT } = options
  const all = answers.flatMap(({ hits }) => hits).sort(newestFirst)
  const hits = all.slice(0, limit)
  const hasMore = all.length > limit || answers.some(({ hasMore: more }) => more)
  const next = hasMore ? placeAfter(hits, options.after) : undefined
  return {
    kind: 'found',
    hits: hits.map(({ hit }) => hit),
    isComplete: answers.every(({ isComplete }) => isComplete),
    titles: answers.flatMap(({ titles }) => titles),
    ...(next !== undefined && { next }),
  }
}

export interface Candidate {
  readonly number: string
  readonly seq: number
  /** Milliseconds. */
  readonly at: number
  readonly body: string
}

interface PlacedHit extends Omit<Candidate, 'body'> {
  readonly hit: MessageHit
}

function newestFirst(a: PlacedHit, b: PlacedHit): number {
  if (a.at !== b.at) return b.at - a.at
  if (a.number !== b.number) return BigInt(a.number) < BigInt(b.number) ? 1 : -1
  return b.seq - a.seq
}

/** Hits at the same millisecond, of which so many were returned. */
const MAX_SAME_TIME = 2048

/** Time of the last hit and how many of that time were returned, in one number. */
function placeAfter(hits: readonly PlacedHit[], before: number | undefined): number | undefined {
  const last = hits.at(-1)
  if (!last) return undefined
  const same = hits.filter(({ at }) => at === last.at).length
  const earlier = before !== undefined && Math.floor(before / MAX_SAME_TIME) === last.at ? before % MAX_SAME_TIME : 0
  return last.at * MAX_SAME_TIME + Math.min(same + earlier, MAX_SAME_TIME - 1)
}

interface DatabaseAnswer {
  readonly hits: readonly PlacedHit[]
  readonly hasMore: boolean
  readonly isComplete: boolean
  readonly titles: readonly string[]
}

async function searchOne(
  database: TeamDatabase,
  person: number,
  query: ParsedQuery,
  options: TeamSearchOptions,
): Promise<DatabaseAnswer> {
  const plan = await searchPlanOf(database, query)
  if (plan.isEmpty) return { hits: [], hasMore: false, isComplete: true, titles: [] }
  return database.asPerson(person, async (db) => {
    const found = await collectHits(db, query, plan, options)
    const isFirst = options.after === undefined
    return { ...found, titles: isFirst ? await findTitles(db, query, plan, options) : [] }
  })
}

async function collectHits(
  db: Transaction,
  query: ParsedQuery,
  plan: SearchPlan,
  { filter = {}, limit = DEFAULT_LIMIT, after, people, patience = PATIENCE_MS }: TeamSearchOptions,
): Promise<Omit<DatabaseAnswer, 'titles'>> {
  const end = performance.now() + patience
  const time = new PatternTimeLimit()
  const hits: PlacedHit[] = []
  let skip = after === undefined ? 0 : after % MAX_SAME_TIME
  const skipAt = after === undefined ? undefined : Math.floor(after / MAX_SAME_TIME)
  let before: { at: Date; number: string; seq: number } | undefined =
    skipAt === undefined ? undefined : { at: new Date(skipAt), number: '9223372036854775807', seq: 2_147_483_647 }
  let wanted = Math.max(limit + 1, FIRST_CANDIDATES)
  for (;;) {
    const { candidates, isCut } = await findCandidates(db, query, plan, filter, people, before, wanted, PROBE_ROWS)
    for (const one of candidates) {
      const hit = matchCandidate(one, query, time)
      if (!hit) continue
      if (one.at === skipAt && skip > 0) skip--
      else hits.push({ ...one, hit })
      if (hits.length > limit) return { hits: hits.slice(0, limit), hasMore: true, isComplete: !plan.isCut }
    }
    const last = candidates.at(-1)
    if (!last || candidates.length < wanted)
      return { hits, hasMore: false, isComplete: !isCut && !plan.isCut && !time.isExhausted }
    if (performance.now() > end || time.isExhausted) return { hits, hasMore: hits.length > 0, isComplete: false }
    before = { at: new Date(last.at), number: last.number, seq: last.seq }
    wanted = Math.min(wanted * 3, MAX_CANDIDATES)
  }
}

/** Rows found by filters alone are the newest: no word narrows them down. */
const MAX_FILTER_PROBE = 20_000

export async function findCandidates(
  db: Transaction,
  query: ParsedQuery,
  plan: SearchPlan,
  filter: TeamFilter,
  people: ReadonlyMap<number, string>,
  before: { readonly at: Date; readonly number: string; readonly seq: number } | undefined,
  limit: number,
  probe: number,
): Promise<{ readonly candidates: readonly Candidate[] /** Time ran out. */; readonly isCut: boolean }> {
  const { projects, persons, agents, sessions, roles, tools, models, since, until, isImpossible } =
    await resolveFilters(db, query, filter, people)
  if (isImpossible) return { candidates: [], isCut: false }
  const hasWords = plan.all.length + plan.any.length > 0
  const rows = await db.rows<{ number: string | null; seq: number; at: Date; body: string }>(
    `SELECT session_key::text AS number, seq, at, body
     FROM search_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      plan.all,
      JSON.stringify(plan.any),
      projects,
      persons,
      agents,
      sessions,
      roles,
      tools,
      models,
      since,
      until,
      before?.at ?? null,
      before?.number ?? null,
      before?.seq ?? null,
      limit,
      hasWords ? probe : MAX_FILTER_PROBE,
    ],
  )
  return {
    candidates: rows.flatMap(({ number, seq, at, body }) =>
      number === null ? [] : { number, seq, at: at.getTime(), body },
    ),
    isCut: rows.at(-1)?.number === null,
  }
}

interface ResolvedFilters {
  readonly projects: readonly number[] | null
  readonly persons: readonly number[] | null
  readonly agents: readonly string[] | null
  readonly sessions: readonly string[] | null
  readonly roles: readonly string[] | null
  readonly tools: readonly string[] | null
  readonly models: readonly string[] | null
  readonly since: Date | null
  readonly until: Date | null
  /** A filter that nothing satisfies. */
  readonly isImpossible: boolean
}

/** Filters that exclude are applied to the text afterwards; those that include narrow the search. */
async function resolveFilters(
  db: Transaction,
  query: ParsedQuery,
  { agents, project, model, tool, person, since, until }: TeamFilter,
  people: ReadonlyMap<number, string>,
): Promise<ResolvedFilters> {
  const included = (kind: string): readonly string[] | undefined => {
    const found = query.filters.find((one) => one.kind === kind && !one.not)
    return found && 'values' in found ? (found.values as readonly string[]) : undefined
  }
  const projectNames = project === undefined ? included('project') : [project]
  const times = query.filters.flatMap((one) => (one.kind === 'time' && !one.not ? one : []))
  const days = query.filters.flatMap((one) => (one.kind === 'on' && !one.not ? one.values : []))
  const from = [
    since,
    ...times.map((one) => one.from && Date.parse(one.from)),
    ...days.map((one) => Date.parse(one.from)),
  ].filter((ms) => ms !== undefined)
  const to = [
    until,
    ...times.map((one) => one.until && Date.parse(one.until)),
    ...days.map((one) => Date.parse(one.until)),
  ].filter((ms) => ms !== undefined)
  const sessionNames = included('session')
  const sessions = sessionNames
    ?.flatMap((name) => SESSION_ID.exec(name)?.[1] ?? SESSION_ID.exec(`team:${name}`)?.[1] ?? [])
    .map(keyToNumber)
  const projects = projectNames && (await findProjects(db, projectNames))
  const persons =
    person === undefined
      ? undefined
      : [...people].filter(([, name]) => name.toLowerCase() === person.toLowerCase()).map(([id]) => id)
  return {
    projects: projects ?? null,
    persons: persons ?? null,
    agents: agents ?? included('agent') ?? null,
    sessions: sessions ?? null,
    roles: included('role') ?? null,
    tools: tool === undefined ? (included('tool') ?? null) : [tool],
    models: (model === undefined ? included('model') : [model])?.map(likePattern) ?? null,
    since: from.length === 0 ? null : new Date(days.length > 0 ? Math.min(...from) : Math.max(...from)),
    until: to.length === 0 ? null : new Date(days.length > 0 ? Math.max(...to) : Math.min(...to)),
    isImpossible: [projects, persons, sessions].some((one) => one?.length === 0),
  }
}

const findProjects = async (db: Transaction, names: readonly string[]): Promise<readonly number[]> =>
  (
    await db.rows<{ id: number }>(
      `SELECT id FROM project p WHERE EXISTS (SELECT 1 FROM unnest($1::text[]) n WHERE lower(p.name) = lower(n) OR lower(p.name) LIKE '%/' || lower(n))`,
      [names.map((name) => name.replace(/\/+$/, ''))],
    )
  ).map(({ id }) => id)

function matchCandidate(
  { number, body }: Candidate,
  query: ParsedQuery,
  time: PatternTimeLimit,
): MessageHit | undefined {
  const message = JSON.parse(body) as NormalizedMessage
  const fields = searchFieldsOf(message, query)
  if (!matchesQuery(query, fields, time) || isExcluded(message, query)) return undefined
  const { scope, snippet } = bestSnippet(query, fields, DEFAULT_SNIPPET_LENGTH, time)
  const tool = message.tool_call?.name
  return {
    session_id: teamSessionId(keyFromNumber(number)) as SessionId,
    message_id: message.id,
    timestamp: recordedTime(message),
    role: message.role,
    source_type: message.source_type,
    ...(typeof tool === 'string' && { tool }),
    scope,
    ...withoutKeys(query, message, { scope, snippet }, DEFAULT_SNIPPET_LENGTH, time),
  }
}

/** Exclusions of role and tool, and what only the message tells. */
function isExcluded(message: NormalizedMessage, { filters }: ParsedQuery): boolean {
  return filters.some((filter) => {
    switch (filter.kind) {
      case 'role':
        return filter.not && filter.values.includes(message.role)
      case 'tool':
        return filter.not && filter.values.includes(message.tool_call?.name ?? '')
      case 'has':
        return filter.values.every((what) => hasWhat(message, what)) === filter.not
      default:
        return false
    }
  })
}

const hasWhat = (message: NormalizedMessage, what: 'error' | 'image'): boolean =>
  what === 'image'
    ? message.segments.some(({ type }) => type === 'image')
    : message.tool_call?.status === 'error' || (message.tool_call?.exit_code ?? 0) !== 0

/** Titles match by their words; only a query of words alone can. */
async function findTitles(
  db: Transaction,
  query: ParsedQuery,
  { all, any }: SearchPlan,
  { limit = DEFAULT_LIMIT }: TeamSearchOptions,
): Promise<readonly string[]> {
  const isPlain = query.filters.length === 0 && query.patterns.length === 0 && query.mustNot.length === 0
  if (!isPlain || all.length === 0 || any.length > 0 || (query.scopes && !query.scopes.includes('title'))) return []
  const rows = await db.rows<{ number: string }>('SELECT session_key::text AS number FROM search_titles($1, $2)', [
    all,
    limit,
  ])
  return rows.map(({ number }) => keyFromNumber(number))
}

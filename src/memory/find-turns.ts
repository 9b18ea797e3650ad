/** Finds the turns that say most about a question, and counts what filters hide. */
import type { IndexedMessage, RankedSearchOptions, SessionEntry, SessionFilter } from '../app.ts'
import type { SessionId } from '../model/ids.ts'
import type { MemoryArchive } from './archive.ts'
import type { TurnHit } from './entries.ts'
import type { Scope } from './scope.ts'
import { ToolProblem } from './tool-problem.ts'

export interface FoundTurns {
  /** The best first. */
  readonly turns: readonly TurnHit[]
  /** Messages in scope that say at least half of what was asked. */
  readonly total: number
  readonly hidden: readonly HiddenHits[]
  readonly unknown: readonly string[]
}

export interface HiddenHits {
  readonly filter: 'project' | 'agent' | 'since' | 'kind' | 'calling session'
  readonly count: number
}

export type HitKind = 'prompt' | 'answer' | 'tool' | 'error'

export const HIT_KINDS: readonly HitKind[] = ['prompt', 'answer', 'tool', 'error']

const FILTER_OF_KIND: { readonly [kind in HitKind]: string } = {
  prompt: 'role:user',
  answer: 'role:assistant',
  tool: 'role:tool',
  error: 'has:error',
}

/** Messages ranked for one answer. */
const MAX_HITS = 100
const MATCHES_PER_TURN = 2
const TURNS_PER_SESSION = 3

export async function findTurns(
  archive: MemoryArchive,
  text: string,
  scope: Scope,
  { kind, limit }: { readonly kind: HitKind | undefined; readonly limit: number },
): Promise<FoundTurns> {
  const found = await rank(archive, { text, limit: Math.min(limit * 2, MAX_HITS), ...conditionsOf(scope, kind) })
  const turns = new Map<string, TurnHit & { readonly matches: TurnHit['matches'] }>()
  const perSession = new Map<SessionId, number>()
  const sessions = new Map(found.sessions.map((one) => [one.id, one]))
  for (const hit of found.hits) {
    const session = sessions.get(hit.session_id)
    const row = hit.message
    if (!session) continue
    const { turn, prompt, answer } = archive.turnOf(row)
    const key = `${hit.session_id}#${turn}`
    const known = turns.get(key)
    if (known) {
      if (known.matches.length < MATCHES_PER_TURN) turns.set(key, { ...known, matches: [...known.matches, row] })
      continue
    }
    const count = (perSession.get(hit.session_id) ?? 0) + 1
    if (count > TURNS_PER_SESSION) continue
    perSession.set(hit.session_id, count)
    const words = [...hit.terms, ...hit.missing, ...hit.related]
    turns.set(key, { session, turn, matches: [row], words, ...(prompt && { prompt }), ...(answer && { answer }) })
  }
  return {
    turns: [...turns.values()],
    total: found.total,
    unknown: found.unknown,
    hidden: await countHidden(archive, text, scope, kind, found),
  }
}

interface Conditions {
  readonly filter: SessionFilter
  readonly exclude: readonly SessionId[]
  readonly filters?: string
}

const conditionsOf = (scope: Scope, kind: HitKind | undefined): Conditions => ({
  filter: scope.filter,
  exclude: [...scope.excluded, ...scope.calling],
  ...(kind && { filters: FILTER_OF_KIND[kind] }),
})

interface Ranked {
  readonly hits: readonly {
    readonly session_id: SessionId
    readonly message: IndexedMessage
    readonly terms: readonly string[]
    readonly missing: readonly string[]
    readonly related: readonly string[]
  }[]
  readonly total: number
  readonly hidden: number
  readonly unknown: readonly string[]
  readonly sessions: readonly SessionEntry[]
}

async function rank(archive: MemoryArchive, options: RankedSearchOptions): Promise<Ranked> {
  const answer = await archive.app.searchRanked({ snippet: 0, ...options })
  if (answer.kind === 'problem') throw new ToolProblem(`${answer.what}: ${answer.advice}.`)
  return answer
}

/** How many more hits there are without each filter. What the owner excludes is not counted. */
async function countHidden(
  archive: MemoryArchive,
  text: string,
  scope: Scope,
  kind: HitKind | undefined,
  { total, hidden }: Ranked,
): Promise<readonly HiddenHits[]> {
  if (hidden === 0) return []
  const { project: _, ...anyProject } = scope.filter
  const { agents: __, ...anyAgent } = scope.filter
  const { since: ___, ...anyTime } = scope.filter
  const all = conditionsOf(scope, kind)
  const relaxed: readonly (readonly [HiddenHits['filter'], boolean, Conditions])[] = [
    ['calling session', scope.calling.length > 0, { ...all, exclude: scope.excluded }],
    ['project', scope.project !== undefined, { ...all, filter: anyProject }],
    ['agent', scope.agent !== undefined, { ...all, filter: anyAgent }],
    ['since', scope.since !== undefined, { ...all, filter: anyTime }],
    ['kind', kind !== undefined, conditionsOf(scope, undefined)],
  ]
  const counts: HiddenHits[] = []
  for (const [filter, isActive, conditions] of relaxed) {
    if (!isActive) continue
    const wider = await rank(archive, { text, limit: 1, ...conditions })
    counts.push({ filter, count: Math.max(0, wider.total - total) })
  }
  return counts
}

/** Tokens of conversations whose logs count none, estimated; never added to those that were counted. */
import { type Instant, instantOf, type SessionId } from '../../model/ids.ts'
import { addEstimates, type Estimate, type EstimatedTokens, estimatedTokens } from '../../model/tokens/estimate.ts'
import type { DayOf } from '../../model/totals.ts'
import { conditionsOf, type SessionFilter } from '../get/filter.ts'
import type { Db } from '../open.ts'

export interface EstimateStats extends EstimatedTokens {
  readonly sessions: number
  readonly by_day: Readonly<Record<string, EstimatedTokens>>
  readonly by_agent: Readonly<Record<string, EstimatedTokens>>
  readonly by_project: Readonly<Record<string, EstimatedTokens>>
  /** Most tokens first. */
  readonly by_session: readonly { readonly session: SessionId; readonly tokens: EstimatedTokens }[]
}

const QUARTER = 900_000
const MOST = 20
const EPOCH = '1970-01-01T00:00:00.000Z' as Instant

interface Raw {
  readonly session: SessionId
  readonly agent: string
  readonly project: string | null
  readonly quarter: number
  readonly user_bytes: number
  readonly assistant_bytes: number
}

export interface EstimateOptions extends SessionFilter {
  readonly dayOf: DayOf
  readonly most?: number
}

/** Nothing when every session counts its tokens. */
export function estimatesOf(db: Db, options: EstimateOptions): { readonly estimate?: EstimateStats } {
  const { since, until, most = MOST, dayOf } = options
  const { sql, values } = conditionsOf(options)
  const rows = db
    .prepare(
      `SELECT t.name AS session, t.agent, t.project, e.quarter, e.user_bytes, e.assistant_bytes
       FROM estimate e JOIN session t ON t.source_id = e.source_id WHERE e.quarter >= ? AND e.quarter < ? AND ${sql}`,
    )
    .all(
      since === undefined ? 0 : Math.floor(since / QUARTER),
      until === undefined ? 1e12 : Math.ceil(until / QUARTER),
      ...values,
    ) as Raw[]
  const first = rows[0]
  if (!first) return {}
  const sessions = sums(rows, ({ session }) => session)
  const largest = [...sessions].sort(([, a], [, b]) => bytesOf(b) - bytesOf(a)).slice(0, most)
  return {
    estimate: {
      ...estimatedTokens([...sessions.values()].reduce(addEstimates)),
      sessions: sessions.size,
      by_day: table(sums(rows, ({ quarter }) => dayOf(instantOf(quarter * QUARTER) ?? EPOCH))),
      by_agent: table(sums(rows, ({ agent }) => agent)),
      by_project: table(sums(rows, ({ project }) => project ?? 'unknown')),
      by_session: largest.map(([session, sum]) => ({ session, tokens: estimatedTokens(sum) })),
    },
  }
}

function sums<Key extends string>(rows: readonly Raw[], keyOf: (row: Raw) => Key): Map<Key, Estimate> {
  const found = new Map<Key, Estimate>()
  for (const row of rows) {
    const key = keyOf(row)
    const { user_bytes, assistant_bytes } = row
    const more: Estimate = { kind: 'estimate', user_bytes, assistant_bytes }
    const before = found.get(key)
    found.set(key, before ? addEstimates(before, more) : more)
  }
  return found
}

/** Names come from logs: none of them may mean something to an object. */
function table(found: ReadonlyMap<string, Estimate>): Record<string, EstimatedTokens> {
  const made = Object.create(null) as Record<string, EstimatedTokens>
  for (const [name, sum] of found) made[name] = estimatedTokens(sum)
  return made
}

const bytesOf = ({ user_bytes, assistant_bytes }: Estimate): number => user_bytes + assistant_bytes

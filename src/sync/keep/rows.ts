/** Keeps what other programs are about to overwrite: every row of a store, or those alone that changed. */
import type { Agent, Source } from '../../agents/agent.ts'
import type { Ended, Put } from '../../archive/keep/record.ts'
import type { Keep } from '../../archive/keep.ts'
import { failureOf, logFailure } from '../../lib/failure.ts'
import type { Instant } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'

export interface StoreKept {
  readonly store: string
  readonly rows: number
  /** Rows that nobody had written since they were last kept. They were not even read. */
  readonly untouched: number
  readonly puts: readonly Put[]
  /** Conversations that are now here alone. */
  readonly ended: readonly Ended[]
  readonly issues: readonly Issue[]
}

export interface KeepRowsOptions {
  readonly now: () => Instant
  /** A row is done. */
  readonly onRow?: (source: Source) => void
}

/** Nothing when there is no such store. */
export async function keepStore(
  agent: Agent,
  store: string,
  keep: Keep,
  options: KeepRowsOptions,
): Promise<StoreKept | undefined> {
  const sources: Source[] = []
  for await (const source of agent.find(store)) sources.push(source)
  return keepSources(agent, store, sources, keep, options)
}

/** @param sources all that there is in the store now: what is missing among them has vanished */
export async function keepSources(
  agent: Agent,
  store: string,
  sources: readonly Source[],
  keep: Keep,
  { now, onRow }: KeepRowsOptions,
): Promise<StoreKept> {
  const known = keep.fingerprints(store)
  const puts: Put[] = []
  const issues: Issue[] = []
  const seen: string[] = []
  let untouched = 0
  for (const source of sources) {
    const { key, fingerprint } = source
    if (key !== undefined) seen.push(key)
    if (key !== undefined && fingerprint !== undefined && known.get(key) === fingerprint) untouched++
    else puts.push(...(await keepRowSafely(agent, source, keep, now(), issues)))
    onRow?.(source)
  }
  // A store that could not be listed has one source without a key: then nothing is known to be gone.
  const isListed = sources.every(({ key }) => key !== undefined)
  const swept = isListed ? keep.sweep(store, seen, now()) : []
  const ended = [...puts.flatMap((put) => put.ended), ...swept]
  return { store, rows: seen.length, untouched, puts, ended, issues }
}

/** A row that brings out a bug is not kept; the others are. */
async function keepRowSafely(...given: Parameters<typeof keepRow>): Promise<readonly Put[]> {
  const [, { path, key }, , , issues] = given
  try {
    return await keepRow(...given)
  } catch (error) {
    const failure = failureOf(error)
    logFailure(path, failure)
    issues.push({ code: failure.code, reason: failure.reason, path, ...(key !== undefined && { key }) })
    return []
  }
}

async function keepRow(
  agent: Agent,
  source: Source,
  keep: Keep,
  at: Instant,
  issues: Issue[],
): Promise<readonly Put[]> {
  const captured = await agent.volatile?.capture(source)
  if (!captured) return []
  if (captured.kind !== 'conversation') issues.push(captured.issue)
  if (captured.kind === 'issue' || source.key === undefined) return []
  if (captured.kind === 'conversation' && keep.isForgotten(captured.capture)) return []
  const { agent: id, path: store, key, fingerprint } = source
  const from = { agent: id, store, key, ...(fingerprint !== undefined && { fingerprint }) }
  return [
    captured.kind === 'conversation'
      ? keep.put(captured.capture, from, at)
      : keep.putUnreadable(captured.bytes, from, at),
  ]
}

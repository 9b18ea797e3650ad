/** What is copied on the way from disk to index, and what is read from copies: the setting `keep`. */
import type { Agent } from '../../agents/agent.ts'
import type { Keep } from '../../archive/keep.ts'
import { type Instant, instantOf } from '../../model/ids.ts'
import { keptSources, listSources, type Place } from '../list.ts'
import type { Found } from '../sweep.ts'
import { copyKey } from './sources.ts'

/**
 * `volatile`: rows that their program overwrites. `all`: also files that it only adds to. `none`: nothing; rows are read where they lie, and
 * what was kept before stays.
 */
export type Policy = 'volatile' | 'all' | 'none'

export interface Keeping {
  readonly policy: Policy
  readonly keep: Keep
  readonly now: () => Instant
}

export const keepingAs = (policy: Policy, keep: Keep): Keeping => ({
  policy,
  keep,
  now: () => instantOf(Date.now()) as Instant,
})

/** All sources of this machine, those included that are kept here alone. */
export async function* allSources(
  agents: readonly Agent[],
  places: readonly Place[],
  { policy, keep, now }: Keeping,
): AsyncGenerator<Found> {
  const files = new Set<string>()
  const listed = listSources(agents, places, policy === 'none' ? undefined : keep, now)
  for await (const found of copied(listed, { policy, keep, now })) {
    if (!found.kept && found.source.key === undefined) files.add(found.source.path)
    yield found
  }
  if (policy === 'none') yield* keptSources(agents, keep, { alive: false })
  yield* copiedSources(agents, keep, files)
}

/** Takes copies of the files that come by. */
export async function* copied(
  sources: AsyncIterable<Found> | Iterable<Found>,
  { policy, keep }: Keeping,
): AsyncGenerator<Found> {
  for await (const found of sources) {
    const { agent, source } = found
    // Agents with stores of rows tell of a store that cannot be listed as if it were a file.
    if (policy === 'all' && !found.kept && source.key === undefined && !agent.volatile)
      keep.copies.take(source.agent, source.path, source.root)
    yield found
  }
}

/** What is copied and lies nowhere else: the latest copy of a file that is there is not among them. */
function* copiedSources(agents: readonly Agent[], keep: Keep, files: ReadonlySet<string>): Generator<Found> {
  const copies = keep.copies.list()
  const latest = new Map(copies.map(({ path, id }) => [path, id]))
  for (const { id, agent: name, path, root, size, probe } of copies) {
    const agent = agents.find((one) => one.id === name || one.serves?.includes(name))
    if (!agent || (files.has(path) && latest.get(path) === id)) continue
    const source = { agent: name, path, key: copyKey(id), size, fingerprint: `copy:${size}:${probe}` }
    yield { agent, kept: true, source: root === undefined ? source : { ...source, root } }
  }
}

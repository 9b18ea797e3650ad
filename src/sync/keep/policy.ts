/** What is copied on the way from disk to index, and what is read from copies: the setting `keep`. */
import { idsOf } from '../../agents/roots.ts'
import { listSources, type Scene } from '../list.ts'
import type { Found } from '../sweep.ts'
import { copyKey } from './sources.ts'

/** All sources of this machine, those included that are kept here alone. */
export async function* allSources(scene: Scene): AsyncGenerator<Found> {
  const files = new Set<string>()
  for await (const found of copied(listSources(scene), scene)) {
    if (!found.kept && !found.isUnlisted && found.source.key === undefined) files.add(found.source.path)
    yield found
  }
  yield* copiedSources(scene, files)
}

/** Takes copies of the files that come by. */
export async function* copied(
  sources: AsyncIterable<Found> | Iterable<Found>,
  { policy, keep }: Scene,
): AsyncGenerator<Found> {
  for await (const found of sources) {
    const { agent, source } = found
    // Agents with stores of rows tell of a store that cannot be listed as if it were a file.
    if (policy === 'all' && !found.kept && !found.isUnlisted && source.key === undefined && !agent.volatile)
      keep.copies.take(source.agent, source.path, source.root)
    yield found
  }
}

/** What is copied and lies nowhere else: the latest copy of a file that is there is not among them. */
function* copiedSources({ agents, keep, isWanted }: Scene, files: ReadonlySet<string>): Generator<Found> {
  const copies = keep.copies.list()
  const latest = new Map(copies.map(({ path, id }) => [path, id]))
  for (const { id, agent: name, path, root, size, probe } of copies) {
    const agent = agents.find((one) => idsOf(one).includes(name))
    if (!agent || (files.has(path) && latest.get(path) === id) || !isWanted({ agent: name, path })) continue
    const source = { agent: name, path, key: copyKey(id), size, fingerprint: `copy:${size}:${probe}` }
    yield { agent, kept: true, source: root === undefined ? source : { ...source, root } }
  }
}

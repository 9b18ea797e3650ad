/** What is copied on the way from disk to index, and what is read from copies: the setting `keep`. */
import { agentIdsOf } from '../agents/agent-roots.ts'
import { copyKeyOf } from '../backup/readable-source.ts'
import { listLiveSources, type SyncContext } from './list-sources.ts'
import type { FoundSource } from './sweep.ts'

/** All sources of this machine, those included that are kept here alone. */
export async function* listAllSources(context: SyncContext): AsyncGenerator<FoundSource> {
  const files = new Set<string>()
  for await (const found of copyFiles(listLiveSources(context), context)) {
    if (!found.kept && !found.isUnlisted && found.source.key === undefined) files.add(found.source.path)
    yield found
  }
  yield* listCopiedSources(context, files)
}

/** Takes copies of the files that come by. */
export async function* copyFiles(
  sources: AsyncIterable<FoundSource> | Iterable<FoundSource>,
  { policy, backup }: SyncContext,
): AsyncGenerator<FoundSource> {
  for await (const found of sources) {
    const { agent, source } = found
    // Agents with stores of rows tell of a store that cannot be listed as if it were a file.
    if (policy === 'all' && !found.kept && !found.isUnlisted && source.key === undefined && !agent.volatile)
      backup.copies.copyFile(source.agent, source.path, source.root)
    yield found
  }
}

/** What is copied and lies nowhere else: the latest copy of a file that is there is not among them. */
function* listCopiedSources(
  { agents, backup, isWanted }: SyncContext,
  files: ReadonlySet<string>,
): Generator<FoundSource> {
  const copies = backup.copies.list()
  const latest = new Map(copies.map(({ path, id }) => [path, id]))
  for (const { id, agent: name, path, root, size, probe } of copies) {
    const agent = agents.find((one) => agentIdsOf(one).includes(name))
    if (!agent || (files.has(path) && latest.get(path) === id) || !isWanted({ agent: name, path })) continue
    const source = { agent: name, path, key: copyKeyOf(id), size, fingerprint: `copy:${size}:${probe}` }
    yield { agent, kept: true, source: root === undefined ? source : { ...source, root } }
  }
}

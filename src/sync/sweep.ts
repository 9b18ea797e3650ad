/** Compares what lies on disk with what the index knows. The sweep decides what is read; a watcher only hints. */
import { sep } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import type { KnownSource, Where } from '../archive/record.ts'
import { failureOf } from '../lib/failure.ts'
import { isHidden } from '../lib/files/look.ts'
import type { KnownSources } from './known.ts'
import type { ScanTask } from './passes/scan-source.ts'

/** A source that is there now. */
export interface Found {
  readonly agent: Agent
  readonly source: Source
  /** It is read from the keep. */
  readonly kept?: true
  /** The place that the source names could not be searched: what is known below it is not gone. */
  readonly isUnlisted?: true
}

export interface Swept {
  /** How many sources are there. */
  readonly sources: number
  readonly changed: readonly ScanTask[]
  /** Known sources that are no longer there, and those that are there again. */
  readonly gone: readonly KnownSource[]
  readonly back: readonly KnownSource[]
}

/**
 * @param paths where it was looked; everywhere if not given
 * @param unwanted what is added to the fingerprints of sources that are left out on purpose
 */
export async function sweep(
  found: AsyncIterable<Found> | Iterable<Found>,
  known: KnownSources,
  resume: (source: number) => ScanTask['from'],
  paths?: Iterable<string>,
  unwanted = '',
): Promise<Swept> {
  const changed: ScanTask[] = []
  const back: KnownSource[] = []
  const fresh = new Set<string>()
  /** Stores whose rows could not be listed, and folders that could not be searched: what is known of them is not gone. */
  const unreadStores = new Set<string>()
  const unsearched: string[] = []
  let sources = 0
  known.beginSweep()
  for await (const { agent, source, kept, isUnlisted } of found) {
    if (isUnlisted) {
      unsearched.push(source.path)
      continue
    }
    const fingerprint = source.fingerprint ?? (await probed(agent, source))
    if (fingerprint === undefined) continue
    const where = whereOf(source, kept === true)
    const met = known.meet(where)
    if (met ? met.again : isKnown(fresh, where)) continue
    sources++
    if (agent.volatile && source.key === undefined) unreadStores.add(source.path)
    const before = met?.source
    if (before?.gone) back.push(before)
    const isSame = before?.fingerprint === fingerprint || before?.fingerprint === fingerprint + unwanted
    if (before && isSame && before.version === agent.version) continue
    const from = before && !agent.many && before.version === agent.version ? resume(before.id) : undefined
    changed.push({
      ...where,
      ...(source.root !== undefined && { root: source.root }),
      ...(source.size !== undefined && { size: source.size }),
      version: agent.version,
      fingerprint,
      ...(from && { from }),
    })
  }
  const isUnknown = (source: KnownSource): boolean =>
    (source.key !== undefined && unreadStores.has(source.path)) ||
    unsearched.some((root) => isIn(source, root)) ||
    isHidden(source.path)
  const gone = [...known.missed(paths)].filter((source) => !source.gone && !isUnknown(source))
  return { sources, changed, gone, back }
}

/** One that cannot even be asked is read: that says what is wrong with it. */
const probed = (agent: Agent, source: Source): Promise<string | undefined> =>
  agent.probe(source).catch((error: unknown) => `failed: ${failureOf(error).reason}`)

const isIn = ({ path }: KnownSource, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

function whereOf({ agent, path, key }: Source, kept: boolean): Where {
  return key === undefined ? { agent, path, kept } : { agent, path, key, kept }
}

/** Among those that the index does not know yet. */
function isKnown(fresh: Set<string>, { agent, path, key, kept }: Where): boolean {
  const place = `${agent}\n${path}\n${kept ? 'kept' : 'row'}\n${key ?? ''}`
  if (fresh.has(place)) return true
  fresh.add(place)
  return false
}

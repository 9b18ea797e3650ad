/** Compares what lies on disk with what the index knows. The sweep decides what is read; a watcher only hints. */
import type { Agent, Source } from '../agents/agent.ts'
import type { KnownSource, Where } from '../archive/record.ts'
import type { KnownSources } from './known.ts'
import type { ScanTask } from './passes/scan-source.ts'

/** A source that is there now. */
export interface Found {
  readonly agent: Agent
  readonly source: Source
  /** It is read from the keep. */
  readonly kept?: true
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
  let sources = 0
  known.beginSweep()
  for await (const { agent, source, kept } of found) {
    const fingerprint = source.fingerprint ?? (await agent.probe(source))
    if (fingerprint === undefined) continue
    const where = whereOf(source, kept === true)
    const met = known.meet(where)
    if (met ? met.again : isKnown(fresh, where)) continue
    sources++
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
  const gone = [...known.missed(paths)].filter((source) => !source.gone)
  return { sources, changed, gone, back }
}

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

/** Compares what lies on disk with what the index knows. The sweep decides what is read; a watcher only hints. */
import type { Agent, Source } from '../agents/agent.ts'
import type { KnownSource, Where } from '../archive/record.ts'
import { type KnownSources, placeOf } from './known.ts'
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
  const seen = new Set<string>()
  for await (const { agent, source, kept } of found) {
    const where: Where = {
      agent: source.agent,
      path: source.path,
      kept: kept === true,
      ...(source.key !== undefined && { key: source.key }),
    }
    const place = placeOf(where)
    if (seen.has(place)) continue
    const fingerprint = source.fingerprint ?? (await agent.probe(source))
    if (fingerprint === undefined) continue
    seen.add(place)
    const before = known.at(place)
    if (before?.gone) back.push(before)
    const isKnown = before?.fingerprint === fingerprint || before?.fingerprint === fingerprint + unwanted
    if (before && isKnown && before.version === agent.version) continue
    const from = before && before.version === agent.version ? resume(before.id) : undefined
    changed.push({
      ...where,
      ...(source.root !== undefined && { root: source.root }),
      ...(source.size !== undefined && { size: source.size }),
      version: agent.version,
      fingerprint,
      ...(from && { from }),
    })
  }
  const gone: KnownSource[] = []
  for (const [place, source] of paths ? known.in(paths) : known.all())
    if (!source.gone && !seen.has(place)) gone.push(source)
  return { sources: seen.size, changed, gone, back }
}

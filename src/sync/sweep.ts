/** Compares the disk with the index and decides what to read. */

import { sep } from 'node:path'
import type { Agent, Source } from '../agents/agent.ts'
import { isSessionFileOf } from '../agents/agent-roots.ts'
import type { KnownSource, SourceLocation } from '../index/records.ts'
import { toSourceFailure } from '../lib/failure.ts'
import { isInaccessible } from '../lib/files/safe-fs.ts'
import type { ScanTask } from './scan-source.ts'

interface TrackedSource {
  source: KnownSource
  /** Number of the last sweep that found it. */
  lastSweep: number
}

export class KnownSources {
  /** Usually one source per path; several agents or rows can share a path. */
  readonly #byPath = new Map<string, TrackedSource[]>()
  #sweep = 0

  constructor(sources: Iterable<KnownSource>) {
    for (const source of sources) this.set(source)
  }

  set(source: KnownSource): void {
    const atPath = this.#byPath.get(source.path)
    const before = atPath?.find((one) => isSameLocation(one.source, source))
    if (before) before.source = source
    else if (atPath) atPath.push({ source, lastSweep: 0 })
    else this.#byPath.set(source.path, [{ source, lastSweep: 0 }])
  }

  delete(source: KnownSource): void {
    const rest = this.#byPath.get(source.path)?.filter((one) => !isSameLocation(one.source, source)) ?? []
    if (rest.length > 0) this.#byPath.set(source.path, rest)
    else this.#byPath.delete(source.path)
  }

  beginSweep(): void {
    this.#sweep++
  }

  /** The known source at this location, and whether this sweep has already found it. */
  meet(location: SourceLocation): { readonly source: KnownSource; readonly again: boolean } | undefined {
    const tracked = this.#byPath.get(location.path)?.find((one) => isSameLocation(one.source, location))
    if (!tracked) return undefined
    const again = tracked.lastSweep === this.#sweep
    tracked.lastSweep = this.#sweep
    return { source: tracked.source, again }
  }

  /** Known sources that this sweep has not found. @param paths the locations searched; default: everywhere */
  *missed(paths?: Iterable<string>): Generator<KnownSource> {
    const places = paths ? [...paths].flatMap((path) => [this.#byPath.get(path) ?? []]) : this.#byPath.values()
    for (const atPath of places) for (const { source, lastSweep } of atPath) if (lastSweep !== this.#sweep) yield source
  }
}

const isSameLocation = (source: KnownSource, { agent, key, kept }: SourceLocation): boolean =>
  source.agent === agent && source.key === key && source.kept === kept

/** A source that exists now. */
export interface FoundSource {
  readonly agent: Agent
  readonly source: Source
  /** The source is read from the backup. */
  readonly kept?: true
  /** The location could not be listed: known sources below it do not count as gone. */
  readonly isUnlisted?: true
}

export interface SweepResult {
  /** Number of existing sources. */
  readonly sources: number
  readonly changed: readonly ScanTask[]
  /** Known sources that disappeared, and known sources that are back. */
  readonly gone: readonly KnownSource[]
  readonly back: readonly KnownSource[]
}

/**
 * @param paths the locations searched; default: everywhere
 * @param forgottenSuffix appended to fingerprints of sources with forgotten sessions
 */
export async function sweepSources(
  found: AsyncIterable<FoundSource> | Iterable<FoundSource>,
  known: KnownSources,
  resume: (source: number) => ScanTask['from'],
  paths?: Iterable<string>,
  forgottenSuffix = '',
): Promise<SweepResult> {
  const changed: ScanTask[] = []
  const back: KnownSource[] = []
  const fresh = new Set<string>()
  /** Stores and folders that could not be listed: known sources in them do not count as gone. */
  const unreadStores = new Set<string>()
  const unsearched: string[] = []
  let sources = 0
  known.beginSweep()
  for await (const { agent, source, kept, isUnlisted } of found) {
    if (isUnlisted) {
      unsearched.push(source.path)
      continue
    }
    const fingerprint = source.fingerprint ?? (await probeOrFailure(agent, source))
    if (fingerprint === undefined) continue
    const location = locationOf(source, kept === true)
    const met = known.meet(location)
    if (met ? met.again : isRepeated(fresh, location)) continue
    sources++
    if (source.key === undefined && !isSessionFileOf(agent, source.path)) unreadStores.add(source.path)
    const before = met?.source
    if (before?.gone) back.push(before)
    const isSame = before?.fingerprint === fingerprint || before?.fingerprint === fingerprint + forgottenSuffix
    if (before && isSame && before.version === agent.version) continue
    const from = before && !agent.hasManySessions && before.version === agent.version ? resume(before.id) : undefined
    changed.push({
      ...location,
      ...(source.root !== undefined && { root: source.root }),
      ...(source.size !== undefined && { size: source.size }),
      version: agent.version,
      fingerprint,
      ...(from && { from }),
    })
  }
  const isUnknown = (source: KnownSource): boolean =>
    (source.key !== undefined && unreadStores.has(source.path)) ||
    unsearched.some((root) => isBelow(source, root)) ||
    isInaccessible(source.path)
  const gone = [...known.missed(paths)].filter((source) => !source.gone && !isUnknown(source))
  return { sources, changed, gone, back }
}

/** A source that cannot be probed is read, because reading reports the problem. */
const probeOrFailure = (agent: Agent, source: Source): Promise<string | undefined> =>
  agent.probe(source).catch((error: unknown) => `failed: ${toSourceFailure(error).reason}`)

const isBelow = ({ path }: KnownSource, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)

function locationOf({ agent, path, key }: Source, kept: boolean): SourceLocation {
  return key === undefined ? { agent, path, kept } : { agent, path, key, kept }
}

/** Detects repetitions among sources that are new to the index. */
function isRepeated(fresh: Set<string>, { agent, path, key, kept }: SourceLocation): boolean {
  const place = `${agent}\n${path}\n${kept ? 'kept' : 'row'}\n${key ?? ''}`
  if (fresh.has(place)) return true
  fresh.add(place)
  return false
}

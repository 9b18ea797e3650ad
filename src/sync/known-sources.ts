/** The sources that the index knows, at hand for a sweep that must not ask for each. */
import type { KnownSource, SourceLocation } from '../index/records.ts'

interface TrackedSource {
  source: KnownSource
  /** The number of the last sweep that met it. */
  lastSweep: number
}

export class KnownSources {
  /** Nearly always one for each path: other agents and rows share some. */
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

  /** What is known of it, and whether this sweep has met it before. */
  meet(location: SourceLocation): { readonly source: KnownSource; readonly again: boolean } | undefined {
    const tracked = this.#byPath.get(location.path)?.find((one) => isSameLocation(one.source, location))
    if (!tracked) return undefined
    const again = tracked.lastSweep === this.#sweep
    tracked.lastSweep = this.#sweep
    return { source: tracked.source, again }
  }

  /** Those that this sweep has not met. @param paths where it looked; everywhere if not given */
  *missed(paths?: Iterable<string>): Generator<KnownSource> {
    const places = paths ? [...paths].flatMap((path) => [this.#byPath.get(path) ?? []]) : this.#byPath.values()
    for (const atPath of places) for (const { source, lastSweep } of atPath) if (lastSweep !== this.#sweep) yield source
  }
}

const isSameLocation = (source: KnownSource, { agent, key, kept }: SourceLocation): boolean =>
  source.agent === agent && source.key === key && source.kept === kept

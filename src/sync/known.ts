/** The sources that the index knows, at hand for a sweep that must not ask for each. */
import type { KnownSource, Where } from '../archive/record.ts'

interface Held {
  source: KnownSource
  /** The number of the last sweep that met it. */
  met: number
}

export class KnownSources {
  /** Nearly always one for each path: other agents and rows share some. */
  readonly #byPath = new Map<string, Held[]>()
  #sweep = 0

  constructor(sources: Iterable<KnownSource>) {
    for (const source of sources) this.set(source)
  }

  set(source: KnownSource): void {
    const there = this.#byPath.get(source.path)
    const before = there?.find((one) => isAt(one.source, source))
    if (before) before.source = source
    else if (there) there.push({ source, met: 0 })
    else this.#byPath.set(source.path, [{ source, met: 0 }])
  }

  delete(source: KnownSource): void {
    const rest = this.#byPath.get(source.path)?.filter((one) => !isAt(one.source, source)) ?? []
    if (rest.length > 0) this.#byPath.set(source.path, rest)
    else this.#byPath.delete(source.path)
  }

  beginSweep(): void {
    this.#sweep++
  }

  /** What is known of it, and whether this sweep has met it before. */
  meet(where: Where): { readonly source: KnownSource; readonly again: boolean } | undefined {
    const held = this.#byPath.get(where.path)?.find((one) => isAt(one.source, where))
    if (!held) return undefined
    const again = held.met === this.#sweep
    held.met = this.#sweep
    return { source: held.source, again }
  }

  /** Those that this sweep has not met. @param paths where it looked; everywhere if not given */
  *missed(paths?: Iterable<string>): Generator<KnownSource> {
    const places = paths ? [...paths].flatMap((path) => [this.#byPath.get(path) ?? []]) : this.#byPath.values()
    for (const there of places) for (const { source, met } of there) if (met !== this.#sweep) yield source
  }
}

const isAt = (source: KnownSource, { agent, key, kept }: Where): boolean =>
  source.agent === agent && source.key === key && source.kept === kept

/** The sources that the index knows, at hand for a sweep that must not ask for each. */
import type { KnownSource, Where } from '../archive/record.ts'

export const placeOf = ({ agent, path, key, kept }: Where): string =>
  key === undefined && !kept ? `${agent}\n${path}` : `${agent}\n${path}\n${kept ? 'kept' : 'row'}\n${key ?? ''}`

export class KnownSources {
  readonly #byPlace = new Map<string, KnownSource>()
  /** Places. */
  readonly #byPath = new Map<string, Set<string>>()

  constructor(sources: Iterable<KnownSource>) {
    for (const source of sources) this.set(source)
  }

  set(source: KnownSource): void {
    const place = placeOf(source)
    this.#byPlace.set(place, source)
    const there = this.#byPath.get(source.path)
    if (there) there.add(place)
    else this.#byPath.set(source.path, new Set([place]))
  }

  at(place: string): KnownSource | undefined {
    return this.#byPlace.get(place)
  }

  all(): Iterable<readonly [place: string, source: KnownSource]> {
    return this.#byPlace
  }

  *in(paths: Iterable<string>): Generator<readonly [place: string, source: KnownSource]> {
    for (const path of paths)
      for (const place of this.#byPath.get(path) ?? []) {
        const source = this.#byPlace.get(place)
        if (source) yield [place, source]
      }
  }
}

/** Remembers which messages belong to the latest turns, because a rollback takes whole turns back. */

export interface SavedTurns {
  readonly turns: readonly (readonly string[])[]
  readonly forgotten: boolean
}

/** Ids of earlier turns are not held: hardly anybody rolls back further in one step. */
const MAX_TURNS = 50

export class RecentTurns {
  readonly #turns: string[][]
  #forgotten: boolean

  constructor(saved?: SavedTurns) {
    this.#turns = (saved?.turns ?? []).map((ids) => [...ids])
    this.#forgotten = saved?.forgotten ?? false
  }

  open(): void {
    this.#turns.push([])
    if (this.#turns.length <= MAX_TURNS) return
    this.#turns.shift()
    this.#forgotten = true
  }

  add(id: string): void {
    this.#turns.at(-1)?.push(id)
  }

  /** The ids of the last turns, which no longer count; not whole when the rollback reaches back beyond what is held. */
  rollBack(count: number): { readonly ids: readonly string[]; readonly whole: boolean } {
    const from = this.#turns.length - Math.max(0, Math.trunc(count))
    const ids = this.#turns.splice(Math.max(0, from)).flat()
    return { ids, whole: from >= 0 || !this.#forgotten }
  }

  save(): SavedTurns {
    return { turns: this.#turns.map((ids) => [...ids]), forgotten: this.#forgotten }
  }
}

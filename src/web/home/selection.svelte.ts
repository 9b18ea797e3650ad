/** Sessions that the reader selected to change or export them together. */
export class Selection {
  /** Whether the list shows checkboxes. */
  isOn = $state(false)
  ids = $state.raw<ReadonlySet<string>>(new Set())
  /** Where a range starts that Shift extends. */
  #anchor: string | undefined

  /** @param shown all sessions of the list in order @param range selects everything from the last choice to this one */
  toggle(id: string, shown: readonly string[], range = false): void {
    this.isOn = true
    const next = new Set(this.ids)
    const from = this.#anchor === undefined ? -1 : shown.indexOf(this.#anchor)
    const to = shown.indexOf(id)
    if (range && from >= 0 && to >= 0)
      for (const one of shown.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one)
    else if (!next.delete(id)) next.add(id)
    this.#anchor = id
    this.ids = next
  }

  choose(ids: readonly string[]): void {
    this.ids = new Set(ids)
  }

  /** Ends the selection. */
  clear(): void {
    this.isOn = false
    this.ids = new Set()
    this.#anchor = undefined
  }
}

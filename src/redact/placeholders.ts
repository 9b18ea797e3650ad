/** Names and counts what a redaction replaces. */

export interface Redaction {
  /**
   * The rule that found a secret (`github`, `aws`, `privatekey` …), `email`, `user`, `home`; or why something could not
   * be examined: `encrypted`, `binary`, `toolong`, `toodeep`.
   */
  readonly kind: string
  readonly distinct: number
  readonly count: number
}

/** The same text of a kind always gets the same placeholder. */
export class Placeholders {
  readonly #names = new Map<string, string>()
  readonly #kinds = new Map<string, { distinct: number; count: number }>()

  /** Counts an occurrence and returns its placeholder. */
  take(text: string, kind: string): string {
    const tally = this.#tally(kind)
    tally.count++
    const key = `${kind}\n${text}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    tally.distinct++
    const name = placeholderName(kind, tally.distinct)
    this.#names.set(key, name)
    return name
  }

  /** Counts an omitted field. */
  count(kind: string): void {
    const tally = this.#tally(kind)
    tally.count++
    tally.distinct++
  }

  list(): readonly Redaction[] {
    return [...this.#kinds].map(([kind, { distinct, count }]) => ({ kind, distinct, count }))
  }

  #tally(kind: string): { distinct: number; count: number } {
    const known = this.#kinds.get(kind)
    if (known) return known
    const tally = { distinct: 0, count: 0 }
    this.#kinds.set(kind, tally)
    return tally
  }
}

/** Keeps paths valid, and needs no escape in JSON, URLs or shells. */
function placeholderName(kind: string, number: number): string {
  if (kind === 'user') return `user-${number}`
  return kind === 'home' ? '/home/user-0' : `[redacted-${kind}-${number}]`
}

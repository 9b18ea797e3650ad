/** What was typed before: walked through one by one, or searched. */

export class PromptHistory {
  readonly #entries: string[]
  #at: number
  #draft = ''

  /** @param entries oldest first */
  constructor(entries: readonly string[] = []) {
    this.#entries = [...entries]
    this.#at = this.#entries.length
  }

  /** Back to what is being typed. */
  reset(): void {
    this.#at = this.#entries.length
  }

  add(text: string): void {
    if (text !== this.#entries.at(-1)) this.#entries.push(text)
    this.reset()
  }

  /** Nothing before the first one. @param typed kept, to come back to */
  older(typed: string): string | undefined {
    if (this.#at === 0) return undefined
    if (this.#at === this.#entries.length) this.#draft = typed
    this.#at--
    return this.#entries[this.#at]
  }

  /** What was being typed follows the last one. */
  newer(): string | undefined {
    if (this.#at === this.#entries.length) return undefined
    this.#at++
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at]
  }

  /** The newest one with these words in it, before a place. Capital letters only count where some are typed. */
  find(words: string, before = this.#entries.length): { readonly text: string; readonly at: number } | undefined {
    const fold = (text: string): string => (words === words.toLowerCase() ? text.toLowerCase() : text)
    for (let at = Math.min(before, this.#entries.length) - 1; at >= 0; at--) {
      const text = this.#entries[at] ?? ''
      if (fold(text).includes(words)) return { text, at }
    }
    return undefined
  }
}

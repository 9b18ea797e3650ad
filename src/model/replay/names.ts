/** Ids and names that a target takes: left alone where it takes them, changed in one way where it does not. */

/** 64 hex digits, the same for the same text. */
export type Digest = (text: string) => string

/** Gives each call an id that fits and that no other call of the conversation has. */
export class CallIds {
  readonly #longest: number
  readonly #fits: RegExp | undefined
  readonly #digest: Digest
  readonly #taken = new Set<string>()
  /** The next number of an id that came before. */
  readonly #next = new Map<string, number>()
  #nameless = 0

  /** @param fits what an id may look like, where that is not everything */
  constructor(longest: number, digest: Digest, fits?: RegExp) {
    this.#longest = longest
    this.#digest = digest
    this.#fits = fits
  }

  /** Call it once for each call; its result bears the same id. */
  take(id: string | null): string {
    const wanted = id === null || id === '' ? `call_${++this.#nameless}` : id
    let given = this.#isFit(wanted) ? wanted : this.#renamed(wanted)
    for (let n = this.#next.get(wanted) ?? 2; this.#taken.has(given); n++) {
      this.#next.set(wanted, n + 1)
      const numbered = `${wanted}~${n}`
      given = this.#isFit(numbered) ? numbered : this.#renamed(numbered)
    }
    this.#taken.add(given)
    return given
  }

  #isFit(id: string): boolean {
    return id.length <= this.#longest && (this.#fits?.test(id) ?? true)
  }

  #renamed(id: string): string {
    return `call_${this.#digest(id).slice(0, 24)}`
  }
}

export interface NameRule {
  /** What a name may look like, length aside. */
  readonly fits: RegExp
  /** Single characters that it may hold. */
  readonly letters: RegExp
  readonly longest: number
}

/** Gives each tool one name in the whole conversation, and no two tools the same. */
export class ToolNames {
  readonly #rule: NameRule
  readonly #digest: Digest
  readonly #given = new Map<string, string>()
  readonly #taken = new Set<string>()

  constructor(rule: NameRule, digest: Digest) {
    this.#rule = rule
    this.#digest = digest
  }

  take(name: string | null): string {
    const wanted = name ?? 'unknown'
    const before = this.#given.get(wanted)
    if (before !== undefined) return before
    let given = this.#isFit(wanted) ? wanted : this.#made(wanted)
    if (this.#taken.has(given)) given = this.#cut(given, wanted)
    this.#given.set(wanted, given)
    this.#taken.add(given)
    return given
  }

  #isFit(name: string): boolean {
    return name.length > 0 && name.length <= this.#rule.longest && this.#rule.fits.test(name)
  }

  #made(name: string): string {
    const { letters } = this.#rule
    const legal = Array.from(name, (one) => (letters.test(one) ? one : '_'))
      .join('')
      .replace(/_{2,}/g, '_')
    const made = this.#rule.fits.test(legal) ? legal : `t_${legal.replace(/^_/, '')}`
    return made.length <= this.#rule.longest ? made : this.#cut(made, name)
  }

  #cut(made: string, name: string): string {
    return `${made.slice(0, this.#rule.longest - 7)}_${this.#digest(name).slice(0, 6)}`
  }
}

/** Random text from a seed, so that every run makes the same secrets. None of them ever was a real one. */

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** At least 0 and less than `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit)
  }

  pick<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)]
    if (one === undefined) throw new Error('an empty list has nothing to pick')
    return one
  }

  from(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet.charAt(this.below(alphabet.length))).join('')
  }

  readonly hex = (length: number): string => this.from(`${DIGITS}abcdef`, length)
  readonly digits = (length: number): string => this.from('123456789', 1) + this.from(DIGITS, length - 1)
  readonly lower = (length: number): string => this.from(LOWER + DIGITS, length)
  readonly upper = (length: number): string => this.from(UPPER + DIGITS, length)
  readonly base32 = (length: number): string => this.from(`${UPPER}234567`, length)
  readonly alnum = (length: number): string => this.from(LOWER + UPPER + DIGITS, length)
  readonly letters = (length: number): string => this.from(LOWER + UPPER, length)
  readonly base64 = (length: number): string => this.from(`${LOWER}${UPPER}${DIGITS}+/`, length)
  readonly base64url = (length: number): string => this.from(`${LOWER}${UPPER}${DIGITS}-_`, length)
  readonly base58 = (length: number): string =>
    this.from('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', length)

  readonly uuid = (): string =>
    [
      this.hex(8),
      this.hex(4),
      `4${this.hex(3)}`,
      `${this.pick(['8', '9', 'a', 'b'])}${this.hex(3)}`,
      this.hex(12),
    ].join('-')

  /** A word that nobody speaks. */
  readonly word = (syllables: number): string =>
    Array.from({ length: syllables }, () => this.from('bdfgklmnprstvz', 1) + this.from('aeiou', 1)).join('')

  /** As people and password managers make them. */
  readonly password = (): string => {
    const word = this.word(3)
    switch (this.below(6)) {
      case 0:
        return `${word.charAt(0).toUpperCase()}${word.slice(1)}${this.digits(3)}${this.pick(['!', '#', '?', '*'])}`
      case 1:
        return this.alnum(16)
      case 2:
        return `${this.word(2)}-${this.word(3)}-${this.digits(2)}-${this.word(2)}`
      case 3:
        return `${this.letters(4)}${this.pick(['!', '%', '^', '+'])}${this.alnum(6)}${this.digits(2)}`
      case 4:
        return this.hex(24)
      default:
        return `${word}${this.digits(2)}${this.word(2)}`
    }
  }
}

/** Fits an answer into a number of tokens: what matters most first, and a last line that says what was left out. */
import { byteLength, tokensOfBytes } from '../model/token-estimate.ts'

export const DEFAULT_BUDGET = 1500
export const MIN_BUDGET = 200
export const MAX_BUDGET = 8000

/** The rule by which the product estimates tokens everywhere. */
const BYTES_PER_TOKEN = 4
const ELLIPSIS = '…'

export const tokensOfText = (text: string): number => tokensOfBytes(byteLength(text))

/** Collects the parts of an answer. Its text never exceeds the budget. */
export class AnswerText {
  readonly #limit: number
  readonly #head: string
  readonly #parts: string[] = []
  #used: number

  /**
   * @param head always part of the answer
   * @param reserved bytes for what `finish` adds
   */
  constructor(budget: number, head: string, reserved: number) {
    this.#limit = budget * BYTES_PER_TOKEN
    this.#head = head
    this.#used = byteLength(head) + 1 + reserved
  }

  /** Bytes that are left. */
  get rest(): number {
    return Math.max(0, this.#limit - this.#used)
  }

  /** @returns false if the part does not fit, and then nothing changes */
  add(part: string): boolean {
    const bytes = byteLength(part) + 1
    if (bytes > this.rest) return false
    this.#parts.push(part)
    this.#used += bytes
    return true
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  /** @param foot is cut if it is longer than what was reserved, and nothing else is left */
  finish(open: string, close: string, foot: string): string {
    const body = this.isEmpty ? [] : [open, ...this.#parts, close]
    const all = [this.#head, ...body, foot].filter((one) => one !== '').join('\n')
    return cutToBytes(all, this.#limit)
  }
}

/** Cuts at a character, and says so. */
export function cutToBytes(text: string, limit: number): string {
  if (byteLength(text) <= limit) return text
  let bytes = byteLength(ELLIPSIS)
  let end = 0
  for (const character of text) {
    bytes += byteLength(character)
    if (bytes > limit) break
    end += character.length
  }
  return `${text.slice(0, end)}${ELLIPSIS}`
}

/** Replaces each word by another one of the same shape: the same word by the same, different words by different ones. */
import { sha256 } from '../../lib/hash.ts'
import { UUID } from '../../model/ids.ts'
import { type Alphabet, alphabetOf } from './letters.ts'

const CJK = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`
/** Ids, and runs of one script: where no spaces stand, a change of script is a border of words. */
const WORD = new RegExp(
  [
    String.raw`(?:\b${UUID}\b)`,
    String.raw`\p{Script=Han}+|\p{Script=Hiragana}+|\p{Script=Katakana}+`,
    String.raw`(?:(?!${CJK})[\p{L}\p{N}\p{M}])+`,
  ].join('|'),
  'gu',
)

const IS_UUID = /^[0-9a-f]{8}-/
/** Digits and letters: a word of letters alone is a word. */
const HEX = /^(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}$/

/** Words that are remembered. */
const MOST_KNOWN = 100_000
const LONGEST_KNOWN = 64

export class Words {
  readonly #key: string
  readonly #known = new Map<string, string>()

  /** @param key whoever has it can turn words back; a new one for each run, and not kept */
  constructor(key: string) {
    this.#key = key
  }

  /** As long as the text, in letters, in UTF-16 and in UTF-8. */
  replace(text: string): string {
    return text.replace(WORD, (word) => this.#known.get(word) ?? this.#fresh(word))
  }

  #fresh(word: string): string {
    const replaced = IS_UUID.test(word) ? this.#uuid(word) : this.#word(word, HEX.test(word))
    if (word.length > LONGEST_KNOWN) return replaced
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(word, replaced)
    return replaced
  }

  /** Version and variant stay, or it would be none. */
  #uuid(id: string): string {
    const digits = id.replaceAll('-', '')
    const fixed = `${digits[12]}${digits[16]}`
    const free = this.#word(digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17), true)
    const all = free.slice(0, 12) + fixed[0] + free.slice(12, 15) + fixed[1] + free.slice(15)
    return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join('-')
  }

  /** Stretch by stretch; each depends on those before it, so that words stay different. */
  #word(word: string, isHex: boolean): string {
    const letters = Array.from(word, (letter) => letter.codePointAt(0) ?? 0)
    if (letters.length > LONGEST_COUNTED) return this.#long(letters, word, isHex)
    let result = ''
    let before = ''
    for (let at = 0; at < letters.length; ) {
      const { codePoints, alphabets, size } = stretchAt(letters, at, isHex)
      result += this.#stretch(codePoints, alphabets, size, before)
      at += codePoints.length
      before = sha256(`${before}${String.fromCodePoint(...codePoints)}`).slice(0, 16)
    }
    return result
  }

  /** Each letter moves by an amount of its own. That two such words become one is possible, and will not happen. */
  #long(letters: readonly number[], word: string, isHex: boolean): string {
    const seed = sha256(`${this.#key} ${word}`)
    let digits = ''
    const moved = letters.map((letter, at) => {
      const alphabet = alphabetOf(letter, isHex)
      const place = (at * DIGITS) % HASH
      if (place === 0) digits = sha256(`${seed} ${at}`)
      if (!alphabet) return letter
      const by = Number.parseInt(digits.slice(place, place + DIGITS), 16)
      return alphabet.at((alphabet.indexOf(letter) + by) % alphabet.size)
    })
    return Array.from(moved, (letter) => String.fromCodePoint(letter)).join('')
  }

  #stretch(
    codePoints: readonly number[],
    alphabets: readonly (Alphabet | undefined)[],
    size: number,
    before: string,
  ): string {
    let index = 0
    codePoints.forEach((one, at) => {
      const alphabet = alphabets[at]
      if (alphabet) index = index * alphabet.size + alphabet.indexOf(one)
    })
    // Words of another shape are permuted among themselves, in another order.
    const shape = alphabets.map((one) => one?.at(0) ?? 0).join()
    let left = permuted(index, size, `${this.#key} ${shape} ${before}`)
    const replaced = [...codePoints]
    for (let at = replaced.length - 1; at >= 0; at--) {
      const alphabet = alphabets[at]
      if (!alphabet) continue
      replaced[at] = alphabet.at(left % alphabet.size)
      left = Math.floor(left / alphabet.size)
    }
    return String.fromCodePoint(...replaced)
  }
}

/** Longer words are so many that no two need to be kept apart by counting. */
const LONGEST_COUNTED = 18
/** Hexadecimal digits for each letter, and of a hash. */
const DIGITS = 4
const HASH = 64

/** So many words of one shape can be counted without losing one. */
const MOST = 2 ** 44

function stretchAt(letters: readonly number[], from: number, isHex: boolean) {
  const codePoints: number[] = []
  const alphabets: (Alphabet | undefined)[] = []
  let size = 1
  for (let at = from; at < letters.length; at++) {
    const letter = letters[at] ?? 0
    const alphabet = alphabetOf(letter, isHex)
    if (codePoints.length > 0 && size * (alphabet?.size ?? 1) > MOST) break
    size *= alphabet?.size ?? 1
    codePoints.push(letter)
    alphabets.push(alphabet)
  }
  return { codePoints, alphabets, size }
}

const ROUNDS = 4

/** A permutation of the numbers below `size`: a Feistel network over two halves, walked until it is inside again. */
function permuted(index: number, size: number, key: string): number {
  const rows = Math.ceil(Math.sqrt(size))
  const columns = Math.ceil(size / rows)
  let place = index
  do {
    let row = Math.floor(place / columns)
    let column = place % columns
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) row = (row + noise(`${key} ${round} ${column}`)) % rows
      else column = (column + noise(`${key} ${round} ${row}`)) % columns
    }
    place = row * columns + column
  } while (place >= size)
  return place
}

const noise = (text: string): number => Number.parseInt(sha256(text).slice(0, 12), 16)

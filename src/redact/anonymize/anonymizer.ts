/** Replaces all words of a conversation and keeps its shape, so that it can be shown to somebody who looks for a fault. */

import { sha256 } from '../../lib/hash.ts'
import { UUID_PATTERN } from '../../model/ids.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { isDataUri, rewriteMessage, rewriteSession, type TextRewriter } from '../rewrite-message.ts'
import { type Alphabet, alphabetOf } from './alphabets.ts'
import { isStructure, isStructureKey, type RewriteScope, structuralPrefixOf } from './structure.ts'

/**
 * One run: with the same key, the same word becomes the same word, so ids of calls and results stay together. Kept are
 * roles, kinds, times, numbers, punctuation, keys that are names, the lengths of all texts and the depth of paths. How
 * often words occur is kept too: who knows the text will recognise it.
 */
export class Anonymizer {
  readonly #contentRewriter: TextRewriter
  readonly #metadataRewriter: TextRewriter

  /** @param key random, new for each run */
  constructor(key: string) {
    const words = new WordReplacer(key)
    this.#contentRewriter = createRewriter(words, 'said')
    this.#metadataRewriter = createRewriter(words, 'about')
  }

  message(message: NormalizedMessage): NormalizedMessage {
    return rewriteMessage(message, this.#contentRewriter, this.#metadataRewriter)
  }

  session(session: Session): Session {
    return rewriteSession(session, this.#metadataRewriter)
  }
}

function createRewriter(words: WordReplacer, scope: RewriteScope): TextRewriter {
  return {
    text: (text, key) => {
      if (isStructure(text, key, scope)) return text
      if (isDataUri(text)) return blankDataUri(text)
      if (key === 'encrypted_content') return zeroBase64(text)
      const origin = structuralPrefixOf(text, key, scope)
      return origin + words.replace(text.slice(origin.length))
    },
    key: (key) => (isStructureKey(key) ? key : words.replace(key)),
    plain: (text) => ({ text: words.replace(text), move: (position) => position }),
  }
}

/** An image of as many bytes, all zero. */
function blankDataUri(dataUri: string): string {
  const [head = '', bytes = ''] = dataUri.split(',')
  return `${head},${bytes.replaceAll(/[^=]+/g, zeroBase64)}`
}

/** In base64. */
const zeroBase64 = (text: string): string => 'A'.repeat(text.length)

/** Replaces each word by another one of the same shape: the same word by the same, different words by different ones. */
const CJK = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`
/** Ids, and runs of one script: where no spaces stand, a change of script is a border of words. */
const WORD_PATTERN = new RegExp(
  [
    String.raw`(?:\b${UUID_PATTERN}\b)`,
    String.raw`\p{Script=Han}+|\p{Script=Hiragana}+|\p{Script=Katakana}+`,
    String.raw`(?:(?!${CJK})[\p{L}\p{N}\p{M}])+`,
  ].join('|'),
  'gu',
)

const UUID_START = /^[0-9a-f]{8}-/
/** Digits and letters: a word of letters alone is a word. */
const HEX_WORD = /^(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}$/

/** Words that are remembered. */
const MAX_CACHED_WORDS = 100_000
const MAX_CACHED_LENGTH = 64

export class WordReplacer {
  readonly #key: string
  readonly #cache = new Map<string, string>()

  /** @param key whoever has it can turn words back; a new one for each run, and not kept */
  constructor(key: string) {
    this.#key = key
  }

  /** As long as the text, in letters, in UTF-16 and in UTF-8. */
  replace(text: string): string {
    return text.replace(WORD_PATTERN, (word) => this.#cache.get(word) ?? this.#replaceWord(word))
  }

  #replaceWord(word: string): string {
    const replaced = UUID_START.test(word) ? this.#replaceUuid(word) : this.#permuteWord(word, HEX_WORD.test(word))
    if (word.length > MAX_CACHED_LENGTH) return replaced
    if (this.#cache.size >= MAX_CACHED_WORDS) this.#cache.clear()
    this.#cache.set(word, replaced)
    return replaced
  }

  /** Version and variant stay, or it would be none. */
  #replaceUuid(id: string): string {
    const digits = id.replaceAll('-', '')
    const fixed = `${digits[12]}${digits[16]}`
    const free = this.#permuteWord(digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17), true)
    const all = free.slice(0, 12) + fixed[0] + free.slice(12, 15) + fixed[1] + free.slice(15)
    return [all.slice(0, 8), all.slice(8, 12), all.slice(12, 16), all.slice(16, 20), all.slice(20)].join('-')
  }

  /** Stretch by stretch; each depends on those before it, so that words stay different. */
  #permuteWord(word: string, isHex: boolean): string {
    const characters = Array.from(word, (character) => character.codePointAt(0) ?? 0)
    if (characters.length > MAX_PERMUTED_LENGTH) return this.#shiftLongWord(characters, word, isHex)
    let result = ''
    let before = ''
    for (let at = 0; at < characters.length; ) {
      const { codePoints, alphabets, size } = takeStretch(characters, at, isHex)
      result += this.#permuteStretch(codePoints, alphabets, size, before)
      at += codePoints.length
      before = sha256(`${before}${String.fromCodePoint(...codePoints)}`).slice(0, 16)
    }
    return result
  }

  /** Each letter moves by an amount of its own. That two such words become one is possible, and will not happen. */
  #shiftLongWord(characters: readonly number[], word: string, isHex: boolean): string {
    const seed = sha256(`${this.#key} ${word}`)
    let digits = ''
    const moved = characters.map((character, at) => {
      const alphabet = alphabetOf(character, isHex)
      const position = (at * DIGITS_PER_CHARACTER) % HASH_LENGTH
      if (position === 0) digits = sha256(`${seed} ${at}`)
      if (!alphabet) return character
      const by = Number.parseInt(digits.slice(position, position + DIGITS_PER_CHARACTER), 16)
      return alphabet.at((alphabet.indexOf(character) + by) % alphabet.size)
    })
    return Array.from(moved, (character) => String.fromCodePoint(character)).join('')
  }

  #permuteStretch(
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
    let remaining = permute(index, size, `${this.#key} ${shape} ${before}`)
    const replaced = [...codePoints]
    for (let at = replaced.length - 1; at >= 0; at--) {
      const alphabet = alphabets[at]
      if (!alphabet) continue
      replaced[at] = alphabet.at(remaining % alphabet.size)
      remaining = Math.floor(remaining / alphabet.size)
    }
    return String.fromCodePoint(...replaced)
  }
}

/** Longer words are so many that no two need to be kept apart by counting. */
const MAX_PERMUTED_LENGTH = 18
/** Hexadecimal digits for each letter, and of a hash. */
const DIGITS_PER_CHARACTER = 4
const HASH_LENGTH = 64

/** So many words of one shape can be counted without losing one. */
const MAX_PERMUTATION_SIZE = 2 ** 44

function takeStretch(characters: readonly number[], from: number, isHex: boolean) {
  const codePoints: number[] = []
  const alphabets: (Alphabet | undefined)[] = []
  let size = 1
  for (let at = from; at < characters.length; at++) {
    const character = characters[at] ?? 0
    const alphabet = alphabetOf(character, isHex)
    if (codePoints.length > 0 && size * (alphabet?.size ?? 1) > MAX_PERMUTATION_SIZE) break
    size *= alphabet?.size ?? 1
    codePoints.push(character)
    alphabets.push(alphabet)
  }
  return { codePoints, alphabets, size }
}

const ROUNDS = 4

/** A permutation of the numbers below `size`: a Feistel network over two halves, walked until it is inside again. */
function permute(index: number, size: number, key: string): number {
  const rows = Math.ceil(Math.sqrt(size))
  const columns = Math.ceil(size / rows)
  let position = index
  do {
    let row = Math.floor(position / columns)
    let column = position % columns
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) row = (row + hashToNumber(`${key} ${round} ${column}`)) % rows
      else column = (column + hashToNumber(`${key} ${round} ${row}`)) % columns
    }
    position = row * columns + column
  } while (position >= size)
  return position
}

const hashToNumber = (text: string): number => Number.parseInt(sha256(text).slice(0, 12), 16)

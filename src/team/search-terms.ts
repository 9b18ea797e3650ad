/** The words of a text as numbers, as the database stores and looks them up. */
import { MAX_WORD_BYTES } from '../search/segments/blocks.ts'
import { analyse } from '../search/words/analyse.ts'
import { isAscii } from '../search/words/characters.ts'
import { identifierParts } from '../search/words/identifiers.ts'

/**
 * Every word once, folded: of identifiers also their parts, of runs of scripts without spaces each character and each
 * pair. The words of the local index.
 */
export function wordsOfText(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  if (isAscii(text)) {
    for (const [word] of text.matchAll(/[a-zA-Z0-9]+/g)) {
      words.add(cutWord(word.toLowerCase()))
      for (const part of identifierParts(word)) words.add(cutWord(part.toLowerCase()))
    }
    return words
  }
  for (const [word] of analyse(text).matchAll(/[a-zA-Z0-9_\u0080-\u{10ffff}]+/gu))
    if (word !== '_') words.add(cutWord(word.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())))
  return words
}

/** Longer words are cut, in bytes, as in the local index. */
const cutWord = (word: string): string =>
  word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES
    ? word
    : cutBytes(Buffer.from(word).subarray(0, MAX_WORD_BYTES))

/** Text again: a character that the cut divides is left out. */
const cutBytes = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/\ufffd+$/, '')

/** The number of a word that a query looks up, from its bytes. */
export const termOfBytes = (bytes: Uint8Array): number => hashOf(cutBytes(bytes))

export const termOf = (word: string): number => hashOf(word)

/** FNV-1a with a final mix, as a signed number of 32 bits. Collisions are found when texts are compared. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >> 8), 0x01000193)
  }
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  return hash | 0
}

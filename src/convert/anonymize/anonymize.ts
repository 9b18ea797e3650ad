/** Replaces all words of a conversation and keeps its shape, so that it can be shown to somebody who looks for a fault. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { isDataUri, type Rewriting, rewriteMessage, rewriteSession } from '../redact/message.ts'
import { isStructure, isStructureKey, originOf, type Where } from './structure.ts'
import { Words } from './words.ts'

/**
 * One run: with the same key, the same word becomes the same word, so ids of calls and results stay together. Kept are
 * roles, kinds, times, numbers, punctuation, keys that are names, the lengths of all texts and the depth of paths. How
 * often words occur is kept too: who knows the text will recognise it.
 */
export class Anonymizer {
  readonly #said: Rewriting
  readonly #about: Rewriting

  /** @param key random, new for each run */
  constructor(key: string) {
    const words = new Words(key)
    this.#said = rewriting(words, 'said')
    this.#about = rewriting(words, 'about')
  }

  message(message: NormalizedMessage): NormalizedMessage {
    return rewriteMessage(message, this.#said, this.#about)
  }

  session(session: Session): Session {
    return rewriteSession(session, this.#about)
  }
}

function rewriting(words: Words, where: Where): Rewriting {
  return {
    text: (text, key) => {
      if (isStructure(text, key, where)) return text
      if (isDataUri(text)) return blank(text)
      if (key === 'encrypted_content') return zeros(text)
      const origin = originOf(text, key, where)
      return origin + words.replace(text.slice(origin.length))
    },
    key: (key) => (isStructureKey(key) ? key : words.replace(key)),
    plain: (text) => ({ text: words.replace(text), move: (place) => place }),
  }
}

/** An image of as many bytes, all zero. */
function blank(dataUri: string): string {
  const [head = '', bytes = ''] = dataUri.split(',')
  return `${head},${bytes.replaceAll(/[^=]+/g, zeros)}`
}

/** In base64. */
const zeros = (text: string): string => 'A'.repeat(text.length)

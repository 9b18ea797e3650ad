/** Replaces all words of a conversation and keeps its shape, so that it can be shown to somebody who looks for a fault. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import { isDataUri, rewriteMessage, rewriteSession, type TextRewriter } from '../redact/message.ts'
import { isStructure, isStructureKey, type RewriteScope, structuralPrefixOf } from './structure.ts'
import { WordReplacer } from './words.ts'

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

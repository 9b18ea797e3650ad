/** Replaces secrets in the raw text of a store, and nothing else: ciphertext, images and people stay. */
import { mergeSpans } from './find/span.ts'
import { TextCollector } from './message-texts.ts'
import { Placeholders, type Redaction } from './placeholders.ts'
import { isDataUri, rewriteText, type TextRewriter } from './rewrite-message.ts'
import { type FoundSpans, namesSecret, type SecretFinder } from './secret-finder.ts'
import { UNEXAMINED } from './secrets.ts'
import { applyEdits } from './text-edits.ts'

export class SecretReplacer {
  readonly #finder: SecretFinder
  readonly #placeholders = new Placeholders()

  /** @param finder that has learned the session */
  constructor(finder: SecretFinder) {
    this.#finder = finder
  }

  /** Keeps the spelling of everything else, also of JSON. */
  async replaceIn(text: string): Promise<string> {
    const collector = new TextCollector(namesSecret)
    rewriteText(text, collector.rewriter)
    return rewriteText(text, this.#createRewriter(await this.#finder.examine(collector.fields(), collector.joined)))
  }

  replaced(): readonly Redaction[] {
    return this.#placeholders.list()
  }

  #createRewriter(found: FoundSpans): TextRewriter {
    const rewrite = (text: string, key?: string): string => {
      if (isDataUri(text)) return text
      const spans = this.#finder.spansIn(text, key, found).filter(({ kind }) => !UNEXAMINED.has(kind))
      if (spans.length === 0) return text
      const secrets = new Map(spans.map(({ start, end, secret }) => [`${start} ${end}`, secret]))
      const edits = mergeSpans(spans).map(({ start, end, kind }) => ({
        start,
        end,
        text: this.#placeholders.take(secrets.get(`${start} ${end}`) ?? text.slice(start, end), kind),
      }))
      return applyEdits(text, edits)
    }
    return { text: rewrite, key: (key) => rewrite(key), plain: (text) => ({ text: rewrite(text), move: (at) => at }) }
  }
}

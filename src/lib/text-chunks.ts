/** Gathers texts until there are enough of them for one write: each by itself costs more than what it says. */

/** Characters that are written at once. */
const MIN_CHUNK_LENGTH = 1 << 16

export class TextBatcher {
  #texts: string[] = []
  #size = 0

  push(...texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text)
      this.#size += text.length
    }
  }

  /** Nothing as long as more should come first. */
  takeIfFull(): Buffer | undefined {
    return this.#size < MIN_CHUNK_LENGTH ? undefined : this.takeRest()
  }

  /** All that is left, if anything is. */
  takeRest(): Buffer | undefined {
    if (this.#size === 0) return undefined
    const bytes = Buffer.from(this.#texts.join(''))
    this.#texts = []
    this.#size = 0
    return bytes
  }
}

/** Texts as bytes, many of them at once. */
export async function* batchTexts(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  const chunks = new TextBatcher()
  for await (const text of texts) {
    chunks.push(text)
    const bytes = chunks.takeIfFull()
    if (bytes) yield bytes
  }
  const rest = chunks.takeRest()
  if (rest) yield rest
}

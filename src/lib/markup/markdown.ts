/** Parses Markdown in bounded time, whatever the text. */

import { Lexer, type Token, Tokenizer, type TokensList } from 'marked'

/** In UTF-16 units. Longer text is shown as plain text. */
export const MAX_MARKDOWN_LENGTH = 128 * 1024
/** Limit of nested quotes and lists, and of nested emphasis and links. Deeper text stays plain. */
const MAX_NESTING = 32
/**
 * Marked can take quadratic time. Once it has read this many characters, the current passage, or the complete text,
 * stays plain.
 */
const MAX_STEPS = 40_000_000

/** GFM tokens, without extensions. Throws a RangeError if parsing would take too long. */
export const lexMarkdown = (source: string): TokensList => new BoundedLexer().lex(source)

class BoundedLexer extends Lexer {
  #nesting = 0
  #steps = MAX_STEPS

  constructor() {
    const tokenizer = new Tokenizer()
    super({ gfm: true, tokenizer })
    // Without this rule, the `[x]` of a task stays in its text, where we show it. The rule itself takes quadratic time.
    tokenizer.rules = { ...tokenizer.rules, other: { ...tokenizer.rules.other, listIsTask: /(?!)/ } }
    // Counted here because it is the first rule tried for each block. The others read at most to the next blank line.
    const space = tokenizer.space.bind(tokenizer)
    tokenizer.space = (source) => {
      this.#spend(/\n[ \t]*\n/.exec(source)?.index ?? source.length)
      return space(source)
    }
  }

  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, clipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], clipped?: boolean): Token[] {
    // Only block quotes pass `clipped`, once per group of `>` lines, and each time they copy their complete content.
    this.#spend(clipped ? MAX_MARKDOWN_LENGTH / 8 : 0)
    return this.#bounded(source, tokens, 0, () => super.blockTokens(source, tokens, clipped))
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const cost = source.length * (source.match(/[*_~`[\]()<>!\\&@:]/g)?.length ?? 0)
    return this.#bounded(source, tokens, cost, () => super.inlineTokens(source, tokens))
  }

  #spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new RangeError('Markdown too costly')
  }

  #bounded(source: string, tokens: Token[], cost: number, read: () => Token[]): Token[] {
    if (cost > this.#steps || this.#nesting >= MAX_NESTING) {
      tokens.push({ type: 'text', raw: source, text: source })
      return tokens
    }
    this.#spend(cost)
    this.#nesting += 1
    const result = read()
    this.#nesting -= 1
    return result
  }
}

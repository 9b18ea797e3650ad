/** Markdown taken apart in bounded time: what it costs to read a text never depends on who wrote it. */

import { Lexer, type Token, Tokenizer, type TokensList } from 'marked'

/** UTF-16 units; a longer text is not worth taking apart. */
export const MAX_MARKDOWN_LENGTH = 128 * 1024
/** Levels of quotes and lists, and of emphasis and links; what lies deeper is shown as plain text. */
const MAX_NESTING = 32
/** Marked can cost a text's length squared. Beyond so many characters read, a stretch, or the text, stays plain. */
const MAX_STEPS = 40_000_000

/** The tokens of GFM, without extensions. Throws a RangeError where that would cost too much. */
export const lexMarkdown = (source: string): TokensList => new BoundedLexer().lex(source)

class BoundedLexer extends Lexer {
  #nesting = 0
  #steps = MAX_STEPS

  constructor() {
    const tokenizer = new Tokenizer()
    super({ gfm: true, tokenizer })
    // Without the rule a task's `[x]` stays in its text, which is how it is shown; the rule costs items squared.
    tokenizer.rules = { ...tokenizer.rules, other: { ...tokenizer.rules.other, listIsTask: /(?!)/ } }
    // The first thing tried at each block; the others then look as far as the next blank line.
    const space = tokenizer.space.bind(tokenizer)
    tokenizer.space = (source) => {
      this.#spend(/\n[ \t]*\n/.exec(source)?.index ?? source.length)
      return space(source)
    }
  }

  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, clipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], clipped?: boolean): Token[] {
    // Only quotes call with `clipped`, once for each stretch of `>` lines, and copy all that they hold each time.
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

/** A conversation that fits a smaller window, read from its beginning each time anew. */
import type { NormalizedMessage } from '../model/normalized.ts'
import { type Trimmed, trim } from './trim/trim.ts'

/** The conversation from its beginning, each time anew. */
export type Reading = () => AsyncIterable<NormalizedMessage>

export type Cut = Pick<Trimmed, 'turns' | 'tokens' | 'tooLarge'>

export interface Shortened {
  readonly open: Reading
  readonly cut: Cut
}

export async function shortened(open: Reading, maxTokens: number): Promise<Shortened> {
  const { turns, tokens, tooLarge } = await trim(open, maxTokens)
  async function* anew(): AsyncGenerator<NormalizedMessage> {
    yield* (await trim(open, maxTokens)).messages
  }
  return { open: turns.cut === 0 ? open : anew, cut: { turns, tokens, tooLarge } }
}

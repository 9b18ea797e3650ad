/** A conversation that fits a smaller window, read from its beginning each time anew. */
import type { NormalizedMessage } from '../../model/normalized.ts'
import { type TrimResult, trimConversation } from './trim.ts'

/** The conversation from its beginning, each time anew. */
export type ReadMessages = () => AsyncIterable<NormalizedMessage>

export type Cut = Pick<TrimResult, 'turns' | 'tokens' | 'tooLarge'>

export interface ShortenedConversation {
  readonly open: ReadMessages
  readonly cut: Cut
}

export async function shortenConversation(open: ReadMessages, maxTokens: number): Promise<ShortenedConversation> {
  const { turns, tokens, tooLarge } = await trimConversation(open, maxTokens)
  async function* readTrimmed(): AsyncGenerator<NormalizedMessage> {
    yield* (await trimConversation(open, maxTokens)).messages
  }
  return { open: turns.cut === 0 ? open : readTrimmed, cut: { turns, tokens, tooLarge } }
}

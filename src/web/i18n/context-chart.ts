/** Texts of the chart of the context window. */
import { bilingualTexts } from './language.svelte.ts'

export const say = bilingualTexts({
  title: ['Context window', 'コンテキストの使用量'],
  peak: (tokens: string) => [`At most ${tokens} tokens in one request.`, `1 回の要求で最大 ${tokens} トークン。`],
  peakOf: (tokens: string, share: string, window: string) => [
    `At most ${tokens} tokens in one request: ${share} of ${window}.`,
    `1 回の要求で最大 ${tokens} トークン（${window} の ${share}）。`,
  ],
  request: (tokens: string) => [`${tokens} tokens`, `${tokens} トークン`],
  first: ['first', '最初'],
  last: ['last', '最後'],
})

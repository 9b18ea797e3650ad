/** `--max-tokens`: what it takes, and what it did. */
import { InvalidArgumentError } from 'commander'
import type { Cut } from '../../convert.ts'

/** Less holds not even the summary. */
const LEAST = 100

export function tokensOf(text: string): number {
  const tokens = Number(text.replaceAll('_', '').replace(/k$/i, '000'))
  if (!Number.isInteger(tokens) || tokens < LEAST)
    throw new InvalidArgumentError(`It takes a number of tokens, ${LEAST} or more: 100000, 100k.`)
  return tokens
}

export function cutLine({ turns, tokens, tooLarge }: Cut): string {
  if (turns.cut === 0 && !tooLarge) return `all ${turns.kept} turns fit: about ${tokens.all} tokens\n`
  const large = tooLarge ? '; even the last turn is more than was asked for' : ''
  return `${turns.cut} of ${turns.cut + turns.kept} turns became a summary of facts; about ${tokens.kept} of ${tokens.all} tokens stay${large}\n`
}

/** Takes apart what is wrong, which is a first sentence, and what to do about it, which is the rest. */
import { type Phrase, phrase } from '../model/phrase.ts'

export interface Advice {
  readonly what: Phrase
  readonly todo?: Phrase
}

export function splitAdvice({ en, ja }: Phrase): Advice {
  const [first = ''] = en.split(/(?<=[.:)]) (?=[A-Z`])/, 1)
  const [firstJa = ''] = ja.split(/(?<=。)/, 1)
  const rest = phrase(en.slice(first.length).trim(), ja.slice(firstJa.length))
  return { what: phrase(first, firstJa), ...(rest.en !== '' && { todo: rest }) }
}

/** What a writer had to change, and what it could not keep: a code for programs, a sentence for people. */

/** Each code with its sentence. `value` is what only this case knows: a number, or words of ours. */
const SENTENCES = {
  no_place: () => 'has no place in the target',
  unaccounted: (value) => `${value} records are in no account`,
  call_id_missing: () => 'the id of a call was missing',
  call_id_changed: () => 'the id of a call was changed',
  tool_renamed: () => 'the name of a tool was changed',
  arguments_wrapped: () => 'arguments that are no JSON were wrapped as {"_raw": …}',
  call_aborted: () => 'a call without result was answered with "aborted"',
  call_cancelled: () => 'a call without result was answered as cancelled',
  result_in_words: () => 'a result without its call was put into words',
  result_cut: () => 'a result was cut to 400,000 bytes',
  prompt_cut: () => 'a prompt was cut to 400,000 bytes',
  context_cut: () => 'the context of a prompt was cut to 400,000 bytes',
  image_unheld: () => 'an image that the program cannot hold became a note',
  image_unaddressed: () => 'an image whose address no server takes became a note',
  prompt_empty: (value) => `an empty prompt became "${value}"`,
  prompt_made: (value) => `an answer without prompt got the prompt "${value}"`,
  answer_made: (value) => `what nobody answered got the answer "${value}"`,
  oldest_left_out: (value) => `the ${value} oldest entries were left out: the program sends no more than the others`,
  unread_left_out: (value) => `${value} entries that the program cannot read were left out`,
  refused_today: (value) => `stays as it was, though the program of today refuses it: ${value}`,
  after_last_answer: () => 'what follows the last answer was left out',
  nested_too_deep: () => 'parts nested too deep',
  server_refuses: (value) => value,
} as const satisfies { readonly [code: string]: (value: string) => string }

export type ChangeCode = keyof typeof SENTENCES

export interface Change {
  readonly code: ChangeCode
  readonly value: string
}

export const change = (code: ChangeCode, value: string | number = ''): Change => ({ code, value: String(value) })

export const sentenceOf = ({ code, value }: Change): string => SENTENCES[code](value)

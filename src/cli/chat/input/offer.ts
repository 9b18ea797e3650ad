/** What Tab offers for the word at the cursor. */
import type { TextLine } from './text-line.ts'

export interface Offer {
  /** Takes the place of the word. */
  readonly text: string
  /** For who chooses. */
  readonly note?: string
  /** More may follow at once: a folder. */
  readonly isOpen?: boolean
}

export interface Offers {
  /** Where the word begins. */
  readonly from: number
  readonly all: readonly Offer[]
}

export type Completer = (line: TextLine) => Offers

/** How far all of them agree. */
export function commonBeginning(offers: readonly Offer[]): string {
  let common = offers[0]?.text ?? ''
  for (const { text } of offers) while (!text.startsWith(common)) common = common.slice(0, -1)
  return common
}

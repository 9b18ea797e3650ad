/** What Tab offers for the word at the cursor. */
import type { TextLine } from './text-line.ts'

export interface CompletionItem {
  /** Takes the place of the word. */
  readonly text: string
  /** For who chooses. */
  readonly note?: string
  /** More may follow at once: a folder. */
  readonly isOpen?: boolean
}

export interface CompletionList {
  /** Where the word begins. */
  readonly from: number
  readonly all: readonly CompletionItem[]
}

export type Completer = (line: TextLine) => CompletionList

/** How far all of them agree. */
export function commonPrefix(items: readonly CompletionItem[]): string {
  let common = items[0]?.text ?? ''
  for (const { text } of items) while (!text.startsWith(common)) common = common.slice(0, -1)
  return common
}

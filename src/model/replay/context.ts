/** What a program told the model beside a message, where it stands in the message's metadata. */
import type { NormalizedMessage } from '../normalized.ts'

/** Amazon Q's marks around each piece of context. */
const CONTEXT_ENTRY = /--- CONTEXT ENTRY BEGIN ---\n([\s\S]*?)\n?--- CONTEXT ENTRY END ---/g

/** One text for each piece; all of it where it bears no marks. */
export function readContexts({ metadata }: NormalizedMessage): readonly string[] {
  const text = metadata?.['additional_context']
  if (typeof text !== 'string' || text.trim() === '') return NO_CONTEXTS
  const marked = Array.from(text.matchAll(CONTEXT_ENTRY), ([, piece = '']) => piece)
  return marked.length > 0 ? marked.filter((piece) => piece.trim() !== '') : [text]
}

const NO_CONTEXTS: readonly string[] = []

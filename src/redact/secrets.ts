/** Finds secrets in texts with all layers. */
import { findInText } from './find/find-in-text.ts'
import { mergeSpans, type RedactionSpan } from './find/span.ts'
import { findLinted } from './secretlint.ts'

/** Kinds of content that cannot be examined. They are not secrets. */
export const UNEXAMINED: ReadonlySet<string> = new Set(['binary', 'encrypted'])

/** Secrets by text, for texts that contain any. */
export async function findSecrets(texts: readonly string[]): Promise<ReadonlyMap<string, readonly RedactionSpan[]>> {
  const linted = await findLinted(texts)
  const found = new Map<string, readonly RedactionSpan[]>()
  for (const text of texts) {
    const own = findInText(text).filter(({ kind }) => !UNEXAMINED.has(kind))
    const spans = mergeSpans([...(linted.get(text) ?? []), ...own])
    if (spans.length > 0) found.set(text, spans)
  }
  return found
}

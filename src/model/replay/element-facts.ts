/** What writers say in words because their form has nothing better. */
import type { Attachment } from '../metadata.ts'
import type { NormalizedMessage } from '../normalized.ts'
import type { ElementFacts } from './extension.ts'

/** A part that is neither text nor image, or an image where none may stand. */
export function attachmentNote({ format, filename, file_id, url }: Attachment): string {
  const name = [filename, file_id, url].find((one) => typeof one === 'string' && one !== '')
  const kind = typeof format === 'string' ? format.replace(/^(?:in|out)put_/, '') : 'attachment'
  return name === undefined ? `[${kind}]` : `[${kind}: ${String(name)}]`
}

/** What is known of a message beside its words. */
export function elementFactsOf({ raw, metadata, timestamp }: NormalizedMessage): ElementFacts | undefined {
  const facts: Record<string, unknown> = {}
  if (raw.timestamp !== undefined) facts['ts'] = raw.timestamp
  else if (!metadata?.timestamp_inferred) facts['ts'] = timestamp
  for (const key of COPIED_KEYS) if (metadata?.[key] !== undefined) facts[key] = metadata[key]
  for (const _ in facts) return facts
  return undefined
}

const COPIED_KEYS = ['injected', 'pending', 'kind', 'phase', 'synthetic'] as const

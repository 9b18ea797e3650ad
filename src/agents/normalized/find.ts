/** Finds files of NormalizedMessages and recognizes them by content. They have no default folder. */

import type { FolderSearch } from '../../model/folder-search.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, Source } from '../agent.ts'
import { findLogs } from '../kit/source-file.ts'

export const AGENT_ID = 'normalized'

export const find = (root: string, search?: FolderSearch): AsyncGenerator<Source> =>
  findLogs(AGENT_ID, root, { names: /\.(?:ndjson|jsonl)$/i, accepts: (_, head) => recognize(head()) }, search)

const MESSAGE_OPENING =
  /^\uFEFF?\s*\{"id":"[^"]*","timestamp":"[^"]*","role":"(?:user|assistant|tool|system|meta)","source_type":"[a-z_]+","segments":\[/

export const recognize = (head: Uint8Array): boolean =>
  MESSAGE_OPENING.test(
    Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, OPENING_BYTES)).toString('utf8'),
  )

/** Enough for the first keys of a message, which have a fixed order. */
const OPENING_BYTES = 512

export const describe = (head: Uint8Array): FileDescription | undefined =>
  recognize(head)
    ? {
        format: 'NormalizedMessage',
        why: phrase(
          'lines with id, timestamp, role, source_type and segments',
          'id・timestamp・role・source_type・segments を持つ行',
        ),
      }
    : undefined

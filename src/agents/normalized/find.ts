/** Finds files of NormalizedMessages and recognizes them by content. They have no home of their own. */
import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { findFilesBelow, isFolder } from '../../lib/files/safe-fs.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription, Source } from '../agent.ts'

export const AGENT_ID = 'normalized'

const CANDIDATE_NAMES = /\.(?:ndjson|jsonl)$/i

export async function* find(root: string): AsyncGenerator<Source> {
  if (!isFolder(root)) yield { agent: AGENT_ID, path: root }
  else
    for (const path of findFilesBelow(root, CANDIDATE_NAMES))
      if (isNormalizedFile(path)) yield { agent: AGENT_ID, path, root }
}

/** The keys of a message come in a known order, the first of them at once. */
const HEAD_BYTES = 2_048
const buffer = Buffer.allocUnsafeSlow(HEAD_BYTES)

function isNormalizedFile(path: string): boolean {
  try {
    const fd = openRegularFile(path)
    try {
      return recognize(buffer.subarray(0, readSync(fd, buffer, 0, HEAD_BYTES, 0)))
    } finally {
      closeSync(fd)
    }
  } catch {
    return false
  }
}

const MESSAGE_OPENING =
  /^\uFEFF?\s*\{"id":"[^"]*","timestamp":"[^"]*","role":"(?:user|assistant|tool|system|meta)","source_type":"[a-z_]+","segments":\[/

export const recognize = (head: Uint8Array): boolean =>
  MESSAGE_OPENING.test(
    Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, OPENING_BYTES)).toString('utf8'),
  )

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

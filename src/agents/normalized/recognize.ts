/** Tells a file of our own messages by its first bytes. */
import { phrase } from '../../model/phrase.ts'
import type { FileDescription } from '../agent.ts'

const MESSAGE_OPENING =
  /^\uFEFF?\s*\{"id":"[^"]*","timestamp":"[^"]*","role":"(?:user|assistant|tool|system|meta)","source_type":"[a-z_]+","segments":\[/

export const recognize = (head: Uint8Array): boolean =>
  MESSAGE_OPENING.test(
    Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES)).toString('utf8'),
  )

const HEAD_BYTES = 512

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

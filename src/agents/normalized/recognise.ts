/** Tells a file of our own messages by its first bytes. */
import { phrase } from '../../model/phrase.ts'
import type { Description } from '../agent.ts'

const OPENING =
  /^\uFEFF?\s*\{"id":"[^"]*","timestamp":"[^"]*","role":"(?:user|assistant|tool|system|meta)","source_type":"[a-z_]+","segments":\[/

export const recognise = (head: Uint8Array): boolean =>
  OPENING.test(Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, GLANCE)).toString('utf8'))

const GLANCE = 512

export const describe = (head: Uint8Array): Description | undefined =>
  recognise(head)
    ? {
        format: 'NormalizedMessage',
        why: phrase(
          'lines with id, timestamp, role, source_type and segments',
          'id・timestamp・role・source_type・segments を持つ行',
        ),
      }
    : undefined

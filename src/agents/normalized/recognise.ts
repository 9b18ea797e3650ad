/** Tells a file of our own messages by its first bytes. */
import type { Description } from '../agent.ts'

const OPENING =
  /^\uFEFF?\s*\{"id":"[^"]*","timestamp":"[^"]*","role":"(?:user|assistant|tool|system|meta)","source_type":"[a-z_]+","segments":\[/

export const recognise = (head: Uint8Array): boolean =>
  OPENING.test(Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, GLANCE)).toString('utf8'))

const GLANCE = 512

export const describe = (head: Uint8Array): Description | undefined =>
  recognise(head)
    ? { format: 'NormalizedMessage', why: 'lines with id, timestamp, role, source_type and segments' }
    : undefined

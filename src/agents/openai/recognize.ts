/** Tells a file of conversations by its beginning. */
import { describeFileHead } from '../../openai/files/describe-file.ts'
import type { FileDescription } from '../agent.ts'

/** Another agent's log is not ours, whatever it holds. */
export const recognize = (head: Uint8Array): boolean => describeFileHead(textOf(head))?.isConversation === true

/** Also for what is refused: the reason tells what it is instead. */
export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = describeFileHead(textOf(head))
  return kind && { format: kind.format, why: kind.why }
}

/** A letter that the end of the head cuts is left out with what is unfinished. */
const textOf = (head: Uint8Array): string => Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('utf8')

/** A conversation as it stood when a request went out: the fold of its journal up to there. */
import { readEvent } from '../../../conversation/journal/event-codec.ts'
import { emptyReplay, replayEvent } from '../../../conversation/journal/replay.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { readRegularFile } from '../../../lib/files/regular-file.ts'
import { isSystemError } from '../../../lib/files/system-error.ts'
import type { Source } from '../../agent.ts'

/** An answer belongs to the request before it; a prompt, or the result of a tool, to the next one. */
export async function stateAt(source: Source, line: number): Promise<ConversationState | undefined> {
  const lines = await readLines(source)
  let replay = emptyReplay()
  for (const [at, text] of lines.entries()) {
    const read = readEvent(text)
    if (!read.ok) continue
    const before = replay.state
    replay = replayEvent(replay, read.event)
    if (at + 1 < line || !before.next_message) continue
    const isOver = !replay.state.next_message
    const isAnother = at + 1 > line && read.event.event === 'next_message'
    if (isOver || isAnother) return before
  }
  return replay.state.next_message ? replay.state : undefined
}

async function readLines({ path, bytes }: Source): Promise<readonly string[]> {
  try {
    return (bytes ? Buffer.from(bytes) : readRegularFile(path)).toString().split('\n')
  } catch (error) {
    if (!isSystemError(error)) throw error
    return []
  }
}

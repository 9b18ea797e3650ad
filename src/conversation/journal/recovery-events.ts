/** What to append to a journal whose writer was stopped in the middle, so that nothing of it is lost. */

import type { ToolUseResult, UserEnvContext } from '../message.ts'
import { newResponse, newToolUseResults } from '../new-message.ts'
import type { JournalEvent } from './event.ts'
import { lastNumber } from './numbered-entries.ts'
import type { Replay } from './replay.ts'

/**
 * What had streamed becomes an interrupted entry; tools that were started get their results, or one that says that they
 * did not end. A question to which nothing had come is still waiting. Empty for a journal that ended well.
 */
export function recoveryEvents(replay: Replay, at: string, env: UserEnvContext): readonly JournalEvent[] {
  const { state, allEntries, streamed, tools } = replay
  if (streamed !== '' && state.next_message) {
    const number = lastNumber(allEntries) + 1
    const assistant = newResponse(null, streamed)
    return [{ event: 'interrupted', at, number, assistant, request_metadata: null, reason: 'crashed' }]
  }
  const last = state.history.at(-1)?.assistant
  if (tools.size === 0 || state.next_message || !last || !('ToolUse' in last)) return []
  const results = last.ToolUse.tool_uses.map(({ id }) => tools.get(id)?.result ?? unfinishedResult(id, tools.has(id)))
  return [{ event: 'next_message', at, message: newToolUseResults(results, env) }]
}

function unfinishedResult(tool_use_id: string, started: boolean): ToolUseResult {
  return { tool_use_id, content: [{ Text: started ? NOT_ENDED : NOT_STARTED }], status: 'Error' }
}

const NOT_ENDED = 'The program was stopped while this tool ran. Whether it did its work is not known.'
const NOT_STARTED = 'The program was stopped before this tool was started.'

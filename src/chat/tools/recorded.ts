/** Tools that are not here, and give what they gave when a conversation was recorded. They do nothing else. */
import { NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { ToolUseResult } from '../../conversation/message.ts'
import { phrase } from '../../model/phrase.ts'
import type { Recording } from '../endpoint/recording.ts'
import { type ChatTool, failed, type Ran } from './tool.ts'

const RECORDED = phrase('from the recording', '記録から')

/** @param here tools that are here run themselves */
export function recordedTools({ results }: Recording, here: readonly ChatTool[]): readonly ChatTool[] {
  const known = new Set(here.map(({ name }) => name))
  return [...results].filter(([name]) => !known.has(name)).map(([name, given]) => recordedTool(name, given))
}

function recordedTool(name: string, given: readonly (ToolUseResult | undefined)[]): ChatTool {
  let at = 0
  const next = async (): Promise<Ran> => {
    const result = given[at++]
    if (!result) return failed('The recording has no result of this call.')
    const status = result.status === 'Success' ? 'Success' : 'Error'
    return { status, content: result.content, images: [], changedFiles: [] }
  }
  return {
    name,
    hostName: name,
    origin: NATIVE_TOOLS,
    description: 'Gives what it gave in the recording.',
    schema: { type: 'object' },
    check: async () => ({ ok: true, call: { need: { level: 'nothing', summary: RECORDED }, run: next } }),
  }
}

/** Tools that are not here, and give what they gave when a conversation was recorded. They do nothing else. */
import { NATIVE_TOOLS } from '../../conversation/limits.ts'
import type { ToolUseResult } from '../../conversation/message.ts'
import { phrase } from '../../model/phrase.ts'
import type { Recording } from '../endpoint/recording.ts'
import { type ChatTool, errorResult, type ToolRunResult } from './tool.ts'

const RECORDED_SUMMARY = phrase('from the recording', '記録から')

/** @param available tools that are here run themselves */
export function createRecordedTools({ results }: Recording, available: readonly ChatTool[]): readonly ChatTool[] {
  const known = new Set(available.map(({ name }) => name))
  return [...results].filter(([name]) => !known.has(name)).map(([name, given]) => recordedTool(name, given))
}

function recordedTool(name: string, given: readonly (ToolUseResult | undefined)[]): ChatTool {
  let at = 0
  const next = async (): Promise<ToolRunResult> => {
    const result = given[at++]
    if (!result) return errorResult('The recording has no result of this call.')
    const status = result.status === 'Success' ? 'Success' : 'Error'
    return { status, content: result.content, images: [], changedFiles: [] }
  }
  return {
    name,
    hostName: name,
    origin: NATIVE_TOOLS,
    description: 'Gives what it gave in the recording.',
    schema: { type: 'object' },
    check: async () => ({ ok: true, call: { need: { level: 'nothing', summary: RECORDED_SUMMARY }, run: next } }),
  }
}

/** The type of a problem case, and messages for cases. */
import { expect } from 'vitest'
import type { ProfileName } from '../../../src/openai.ts'

export interface ProblemCase {
  readonly code: string
  readonly of: string
  readonly for?: ProfileName
  readonly given: readonly unknown[]
  readonly at: string
  readonly mended: readonly unknown[]
}

export const user = { role: 'user', content: 'Count the rows.' }
export const call = (id: string, fields: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'count', arguments: '{}' },
  ...fields,
})
export const assistantCalls = (...tool_calls: readonly unknown[]) => ({ role: 'assistant', content: null, tool_calls })
export const result = (tool_call_id: string, content: unknown = '7') => ({ role: 'tool', tool_call_id, content })
export const finalAnswer = { role: 'assistant', content: 'Seven.' }
export const text = (words: string) => ({ type: 'text', text: words })
export const userParts = (...content: readonly unknown[]) => ({ role: 'user', content })
export const withFunctionName = (name: string) => ({ function: { name, arguments: '{}' } })
/** An id made by a repair. */
export const MADE_CALL_ID = expect.stringMatching(/^call_[0-9a-f]{24}$/)
export const LONG_ID = 'x'.repeat(41)

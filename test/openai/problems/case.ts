/** What a case of a problem is, and the messages that cases are made of. */
import { expect } from 'vitest'
import type { ProfileName } from '../../../src/openai.ts'

export interface Case {
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
export const calling = (...tool_calls: readonly unknown[]) => ({ role: 'assistant', content: null, tool_calls })
export const result = (tool_call_id: string, content: unknown = '7') => ({ role: 'tool', tool_call_id, content })
export const done = { role: 'assistant', content: 'Seven.' }
export const text = (words: string) => ({ type: 'text', text: words })
export const saying = (...content: readonly unknown[]) => ({ role: 'user', content })
export const named = (name: string) => ({ function: { name, arguments: '{}' } })
/** An id that a repair made. */
export const made = expect.stringMatching(/^call_[0-9a-f]{24}$/)
export const long = 'x'.repeat(41)

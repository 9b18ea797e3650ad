/** Files of messages to read, and what was read. */
import type { Source } from '../../../src/agents/agent.ts'
import openai from '../../../src/agents/openai/agent.ts'
import { tempLog } from '../../support/codex-log.ts'
import { type ReadSummary, readAll } from '../../support/fixtures.ts'

export const json = JSON.stringify
export const sourceOf = (path: string): Source => ({ agent: openai.id, path })
export const read = (content: string | Uint8Array, name = 'chat.jsonl') =>
  readAll(openai, sourceOf(tempLog(content, name)))
export const exchange = (question: string, answer = 'Yes.') => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
]
export const exampleLine = (question: string, answer?: string): string => json({ messages: exchange(question, answer) })
export const codesOf = ({ issues }: ReadSummary): readonly string[] => issues.map(({ code }) => code)
export const textsIn = ({ messages }: ReadSummary): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map(({ segments }) => segments[0]?.text ?? '')

/** Files of messages to read, and what was read. */
import type { Source } from '../../../src/agents/agent.ts'
import openai from '../../../src/agents/openai/agent.ts'
import { readAll, type Told } from '../../support/fixtures.ts'
import { tempLog } from '../../support/log.ts'

export const json = JSON.stringify
export const sourceOf = (path: string): Source => ({ agent: openai.id, path })
export const read = (content: string | Uint8Array, name = 'chat.jsonl') =>
  readAll(openai, sourceOf(tempLog(content, name)))
export const ask = (question: string, answer = 'Yes.') => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
]
export const example = (question: string, answer?: string): string => json({ messages: ask(question, answer) })
export const codesOf = ({ issues }: Told): readonly string[] => issues.map(({ code }) => code)
export const saidIn = ({ messages }: Told): readonly string[] =>
  messages.filter(({ role }) => role === 'user').map(({ segments }) => segments[0]?.text ?? '')

/** Prompts that a user can choose in clients that show them. Each contains the answer of a tool. */
import { fieldsOf, stringOf } from '../../lib/unknown-values.ts'
import type { ToolCallContext } from '../archive.ts'
import { ToolArguments } from '../arguments.ts'
import { about } from '../tools/about.ts'
import { list } from '../tools/list.ts'
import { search } from '../tools/search.ts'
import type { Tool } from '../tools/tool.ts'
import { INVALID_PARAMS, ProtocolError } from './message.ts'

interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[]
  readonly tool: Tool
  readonly toolArguments: (value: string) => object
  readonly task: (value: string) => string
}

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'recall',
    title: 'Recall earlier conversations',
    description: 'What was said before about a question',
    arguments: [{ name: 'question', description: 'A question, words or an error text', required: true }],
    tool: search,
    toolArguments: (query) => ({ query }),
    task: (question) =>
      `Answer from the earlier conversations below, and cite each statement as agent/session#turn. If they do not answer it, say so.\n\nQuestion: ${question}`,
  },
  {
    name: 'history',
    title: 'History of a file or an error',
    description: 'Which earlier sessions changed a file or met an error, and what followed',
    arguments: [{ name: 'what', description: 'A path or an error text', required: true }],
    tool: about,
    toolArguments: (what) => ({ what }),
    task: (what) => `Summarize what earlier conversations did about this, with citations: ${what}`,
  },
  {
    name: 'recent',
    title: 'Where we left off',
    description: 'The latest sessions of this project',
    arguments: [],
    tool: list,
    toolArguments: () => ({}),
    task: () =>
      'Below are the latest conversations of this project. Read the newest with the tool read, and tell me where we left off and what is open.',
  },
]

export async function getPrompt(context: ToolCallContext, name: string, given: unknown): Promise<object> {
  const prompt = PROMPTS.find((one) => one.name === name)
  if (!prompt)
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt. Available: ${PROMPTS.map((one) => one.name).join(', ')}.`)
  const [argument] = prompt.arguments
  const value = argument ? (stringOf(fieldsOf(given)?.[argument.name])?.trim() ?? '') : ''
  if (argument && value === '') throw new ProtocolError(INVALID_PARAMS, `${argument.name} is missing.`)
  const args = new ToolArguments(prompt.toolArguments(value), Object.keys(prompt.tool.properties))
  const answer = await prompt.tool.run(context, args)
  const text = `${prompt.task(value)}\n\n${answer}`
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}

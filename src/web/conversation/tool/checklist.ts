/** Plans and to-do lists, as agents write them in arguments or results of tools. */
import type { ToolCallItem } from '../../../model/api/message.ts'

export interface Step {
  readonly text: string
  readonly state: 'done' | 'doing' | 'todo'
}

const LISTS = ['plan', 'todos', 'tasks', 'items', 'steps']
const TEXTS = ['step', 'content', 'task_description', 'task', 'title', 'text', 'description', 'name']

/** Nothing where the call is about something else. */
export function checklistOf({
  name,
  arguments_json,
  input_json,
  output_json,
}: ToolCallItem): readonly Step[] | undefined {
  if (!/plan|todo|task/i.test(name ?? '')) return undefined
  for (const value of [arguments_json, input_json, output_json]) {
    const steps = stepsIn(value)
    if (steps) return steps
  }
  return undefined
}

function stepsIn(value: unknown): readonly Step[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as { readonly [name: string]: unknown }
  for (const name of LISTS) {
    const list = fields[name]
    if (!Array.isArray(list) || list.length === 0) continue
    const steps = list.map(stepOf)
    if (steps.every((step) => step !== undefined)) return steps
  }
  return undefined
}

function stepOf(value: unknown): Step | undefined {
  if (typeof value === 'string') return { text: value, state: 'todo' }
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as { readonly [name: string]: unknown }
  const text = TEXTS.map((name) => fields[name]).find((one): one is string => typeof one === 'string')
  return text === undefined ? undefined : { text, state: stateOf(fields) }
}

function stateOf({ status, state, completed, done }: { readonly [name: string]: unknown }): Step['state'] {
  if (completed === true || done === true) return 'done'
  const word = [status, state].find((one) => typeof one === 'string') ?? ''
  if (/^(?:completed?|done|finished)$/i.test(word)) return 'done'
  return /progress|doing|active|running/i.test(word) ? 'doing' : 'todo'
}

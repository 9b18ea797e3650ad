/** Plans and to-do lists, as agents write them in arguments or results of tools. */
import type { ToolCallItem } from '../../../model/api/message.ts'

export interface ChecklistStep {
  readonly text: string
  readonly state: 'done' | 'doing' | 'todo'
}

const LIST_FIELDS = ['plan', 'todos', 'tasks', 'items', 'steps']
const TEXT_FIELDS = ['step', 'content', 'task_description', 'task', 'title', 'text', 'description', 'name']

/** Nothing where the call is about something else. */
export function checklistOf({
  name,
  arguments_json,
  input_json,
  output_json,
}: ToolCallItem): readonly ChecklistStep[] | undefined {
  if (!/plan|todo|task/i.test(name ?? '')) return undefined
  for (const value of [arguments_json, input_json, output_json]) {
    const steps = findSteps(value)
    if (steps) return steps
  }
  return undefined
}

function findSteps(value: unknown): readonly ChecklistStep[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as { readonly [name: string]: unknown }
  for (const name of LIST_FIELDS) {
    const list = fields[name]
    if (!Array.isArray(list) || list.length === 0) continue
    const steps = list.map(parseStep)
    if (steps.every((step) => step !== undefined)) return steps
  }
  return undefined
}

function parseStep(value: unknown): ChecklistStep | undefined {
  if (typeof value === 'string') return { text: value, state: 'todo' }
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as { readonly [name: string]: unknown }
  const text = TEXT_FIELDS.map((name) => fields[name]).find((one): one is string => typeof one === 'string')
  return text === undefined ? undefined : { text, state: stepState(fields) }
}

function stepState({ status, state, completed, done }: { readonly [name: string]: unknown }): ChecklistStep['state'] {
  if (completed === true || done === true) return 'done'
  const word = [status, state].find((one) => typeof one === 'string') ?? ''
  if (/^(?:completed?|done|finished)$/i.test(word)) return 'done'
  return /progress|doing|active|running/i.test(word) ? 'doing' : 'todo'
}

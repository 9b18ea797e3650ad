/** What a tool call shows: commands as typed, indented data, output without its envelope, plans as checklists. */
import type { ToolCallItem } from '../../../model/api/message.ts'
import { toolKindOf } from '../../../model/tool-names.ts'

type Fields = { readonly [name: string]: unknown }

export function callInputText({ arguments: text, arguments_json, input, input_json }: ToolCallItem): string {
  const fields = (arguments_json ?? input_json) as Fields | undefined
  if (!fields) return input ?? text ?? ''
  const command = findCommand(fields)
  if (command === undefined) return Object.keys(fields).length === 0 ? '' : JSON.stringify(fields, null, 2)
  const rest = Object.entries(fields).filter(
    ([name, value]) => !COMMAND_FIELDS.includes(name) && value !== null && value !== '',
  )
  const others = rest.map(([name, value]) => `# ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [...others, `$ ${command}`].join('\n')
}

const COMMAND_FIELDS = ['command', 'cmd']

function findCommand(fields: Fields): string | undefined {
  const command = COMMAND_FIELDS.map((name) => fields[name]).find((value) => value !== undefined)
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return undefined
  const [shell, flag, script] = command
  const isScript = command.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell ?? '') && /^-\w*c$/.test(flag ?? '')
  return isScript
    ? script
    : command.map((word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
}

/** The line of the call shows these numbers. */
const OUTPUT_HEADER = /^Exit code: -?\d+\nWall time: [\d.]+ seconds\n(?:Total output lines: \d+\n)?Output:\n/

/** Some agents wrap the output in JSON. */
export function callOutputText({ output, output_json }: ToolCallItem): string {
  const fields = output_json as Fields | undefined
  if (!fields) return (output ?? '').replace(OUTPUT_HEADER, '')
  const inner = fields['output'] ?? fields['stdout']
  if (typeof inner === 'string') {
    const errors = fields['stderr']
    return typeof errors === 'string' && errors !== '' ? `${inner}\n${errors}` : inner
  }
  return JSON.stringify(fields, null, 2)
}

interface ChecklistStep {
  readonly text: string
  readonly state: 'done' | 'doing' | 'todo'
}

const LIST_FIELDS = ['plan', 'todos', 'tasks', 'items', 'steps']
const TEXT_FIELDS = ['step', 'content', 'task_description', 'task', 'title', 'text', 'description', 'name']

export function checklistOf({
  name,
  arguments_json,
  input_json,
  output_json,
}: ToolCallItem): readonly ChecklistStep[] | undefined {
  if (toolKindOf({ name }) !== 'plan' && !/plan|todo|task/i.test(name ?? '')) return undefined
  for (const value of [arguments_json, input_json, output_json]) {
    const steps = findSteps(value)
    if (steps) return steps
  }
  return undefined
}

function findSteps(value: unknown): readonly ChecklistStep[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const fields = value as Fields
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
  const fields = value as Fields
  const text = TEXT_FIELDS.map((name) => fields[name]).find((one): one is string => typeof one === 'string')
  return text === undefined ? undefined : { text, state: stepState(fields) }
}

function stepState({ status, state, completed, done }: Fields): ChecklistStep['state'] {
  if (completed === true || done === true) return 'done'
  const word = [status, state].find((one) => typeof one === 'string') ?? ''
  if (/^(?:completed?|done|finished)$/i.test(word)) return 'done'
  return /progress|doing|active|running/i.test(word) ? 'doing' : 'todo'
}

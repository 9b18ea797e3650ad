/** Collects facts for a summary without a model: prompts, touched files, commands, open todos. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../lib/unknown-values.ts'
import type { NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { commandOf, toolKindOf } from '../model/tool-names.ts'
import { toShellText } from '../model/tool-summary.ts'
import { findTouchedFiles } from '../model/touched-files.ts'

/** Follows the todo list that an agent keeps with its tools. */
interface Todo {
  readonly text: string
  /** As the agent writes it: `pending`, `in_progress`, `completed`. */
  readonly status: string
}

class TodoTracker {
  #todos: readonly Todo[] = []

  add(call: ToolCall): void {
    const { name, arguments_json, input_json } = call
    const given = fieldsOf(arguments_json ?? input_json)
    if (!given) return
    // `update_plan` of Codex and similar tools give the complete list each time.
    const fullList = [given['plan'], given['todos']].find((one) => Array.isArray(one))
    if (fullList && toolKindOf(call) === 'plan') this.#todos = listOf(fullList).flatMap(parseTodo)
    else if (name === 'todo_list') this.#todos = applyTodoCommand(this.#todos, given)
  }

  open(): readonly string[] {
    return this.#todos
      .filter(({ status }) => status !== 'completed' && status !== 'done')
      .map(({ text, status }) => (status === 'in_progress' ? `${text} (in progress)` : text))
  }
}

function parseTodo(value: unknown): readonly Todo[] {
  if (!isObject(value)) return []
  const text = stringOf(value['step']) ?? stringOf(value['content']) ?? stringOf(value['text'])
  return text === undefined ? [] : [{ text, status: stringOf(value['status']) ?? 'pending' }]
}

/** The commands of Amazon Q CLI's `todo_list`. Positions count from 0. */
function applyTodoCommand(todos: readonly Todo[], given: Fields): readonly Todo[] {
  switch (given['command']) {
    case 'create':
      return taskTexts(given['tasks']).map(pendingTodo)
    case 'complete': {
      const done = new Set(listOf(given['completed_indices']))
      return todos.map((todo, at) => (done.has(at) ? { ...todo, status: 'completed' } : todo))
    }
    case 'remove': {
      const removed = new Set(listOf(given['remove_indices']))
      return todos.filter((_, at) => !removed.has(at))
    }
    case 'add': {
      const list = [...todos]
      const positions = listOf(given['insert_indices'])
      taskTexts(given['new_tasks']).forEach((text, at) => {
        list.splice(numberOf(positions[at]) ?? list.length, 0, pendingTodo(text))
      })
      return list
    }
    default:
      return todos
  }
}

const pendingTodo = (text: string): Todo => ({ text, status: 'pending' })

const taskTexts = (value: unknown): readonly string[] =>
  listOf(value).flatMap(
    (one) =>
      stringOf(one) ??
      (isObject(one) ? (stringOf(one['task_description']) ?? stringOf(one['description'])) : undefined) ??
      [],
  )

/** Keeps the latest of each kind. */
const MAX_ITEMS = 400
const MAX_LINE_LENGTH = 240

/** Lists end with the latest. */
export interface ConversationFacts {
  readonly messages: number
  readonly from: string | undefined
  readonly to: string | undefined
  /** An earlier summary. */
  readonly summary: string | undefined
  readonly asked: readonly string[]
  readonly files: readonly string[]
  readonly commands: readonly string[]
  readonly todos: readonly string[]
}

export class FactCollector {
  #messages = 0
  #from: string | undefined
  #to: string | undefined
  #summary: string | undefined
  readonly #asked: string[] = []
  /** Maps each path to its last change. */
  readonly #files = new Map<string, string>()
  /** By call id, or a number of our own. */
  readonly #commands = new Map<string, string>()
  readonly #todos = new TodoTracker()

  /** @param isPrompt the user typed this message */
  add(message: NormalizedMessage, isPrompt: boolean): void {
    const { role, source_type, tool_call, metadata, timestamp } = message
    if (role !== 'meta') this.#messages++
    this.#from ??= timestamp
    this.#to = timestamp
    if (isPrompt) pushLatest(this.#asked, shortLine(segmentText(message)))
    if (role === 'system' && metadata?.kind === 'summary') this.#summary = segmentText(message)
    if (!tool_call) return
    for (const { path, how } of findTouchedFiles(message))
      moveToEnd(this.#files, path, how === 'named' ? '' : ` (${how})`)
    if (source_type === 'tool_call') {
      this.#todos.add(tool_call)
      const command = shellCommandIn(tool_call)
      if (command !== undefined) moveToEnd(this.#commands, tool_call.call_id ?? `#${message.id}`, command)
    } else this.#ended(tool_call)
  }

  /** A command's result has its exit code. */
  #ended({ call_id, status, exit_code }: ToolCall): void {
    const command = call_id === null ? undefined : this.#commands.get(call_id)
    const failed = exit_code !== undefined && exit_code !== 0 ? `exit ${exit_code}` : status === 'error' ? 'failed' : ''
    if (call_id !== null && command !== undefined && failed !== '')
      this.#commands.set(call_id, `${command} (${failed})`)
  }

  facts(): ConversationFacts {
    return {
      messages: this.#messages,
      from: this.#from,
      to: this.#to,
      summary: this.#summary,
      asked: this.#asked.filter((text) => text !== ''),
      files: Array.from(this.#files, ([path, how]) => shortLine(path) + how),
      commands: [...this.#commands.values()],
      todos: this.#todos.open().map(shortLine),
    }
  }
}

function pushLatest(list: string[], text: string): void {
  list.push(text)
  if (list.length > MAX_ITEMS) list.shift()
}

function moveToEnd(map: Map<string, string>, key: string, value: string): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_ITEMS) map.delete(map.keys().next().value ?? '')
}

const segmentText = ({ segments }: NormalizedMessage): string => segments.map(({ text }) => text ?? '').join('\n')

/** Patches are listed by their files instead. */
function shellCommandIn(call: ToolCall): string | undefined {
  const command = commandOf(call)
  const text = Array.isArray(command) ? toShellText(command) : command
  return typeof text !== 'string' || text.trim() === '' || /^\s*apply_patch\b/.test(text) ? undefined : shortLine(text)
}

function shortLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}

/** What can be said of messages without a model: what was asked, which files were touched, which commands were run. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../lib/unknown-values.ts'
import { findTouchedFiles } from '../model/files/touched-files.ts'
import type { NormalizedMessage, ToolCall } from '../model/normalized.ts'
import { toShellText } from '../model/tool-summary.ts'

/** The list of things to do that an agent keeps by its tools, followed call by call. */
interface Todo {
  readonly text: string
  /** The agent's own word: `pending`, `in_progress`, `completed`. */
  readonly status: string
}

class TodoTracker {
  #todos: readonly Todo[] = []

  add({ name, arguments_json, input_json }: ToolCall): void {
    const given = fieldsOf(arguments_json ?? input_json)
    if (!given) return
    // `update_plan` of Codex, and the like of other agents, give the whole list each time.
    const fullList = [given['plan'], given['todos']].find((one) => Array.isArray(one))
    if (fullList && name !== null && /plan|todo/i.test(name)) this.#todos = listOf(fullList).flatMap(parseTodo)
    else if (name === 'todo_list') this.#todos = applyTodoCommand(this.#todos, given)
  }

  /** What is not done. */
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

/** `todo_list` of Amazon Q CLI: commands that change it. Places count from 0. */
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

/** Tasks are texts, or objects that hold one. */
const taskTexts = (value: unknown): readonly string[] =>
  listOf(value).flatMap(
    (one) =>
      stringOf(one) ??
      (isObject(one) ? (stringOf(one['task_description']) ?? stringOf(one['description'])) : undefined) ??
      [],
  )

/** Of each kind, so many are held: the latest. */
const MAX_ITEMS = 400
const MAX_LINE_LENGTH = 240

/** All lists: the latest last. */
export interface ConversationFacts {
  readonly messages: number
  readonly from: string | undefined
  readonly to: string | undefined
  /** A summary that was made earlier, by whomever. */
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
  /** Path, and what was done to it last. */
  readonly #files = new Map<string, string>()
  /** By call, or by a number of our own where a call has no id. */
  readonly #commands = new Map<string, string>()
  readonly #todos = new TodoTracker()

  /** @param isPrompt somebody asked this */
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

  /** How a command ended is told by its result. */
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

/** Moves it to the end. */
function moveToEnd(map: Map<string, string>, key: string, value: string): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_ITEMS) map.delete(map.keys().next().value ?? '')
}

const segmentText = ({ segments }: NormalizedMessage): string => segments.map(({ text }) => text ?? '').join('\n')

/** A patch is told by its files. */
function shellCommandIn({ arguments_json }: ToolCall): string | undefined {
  const given = fieldsOf(arguments_json)
  const command = given?.['command'] ?? given?.['cmd']
  const text = Array.isArray(command) ? toShellText(command) : command
  if (typeof text !== 'string' || text.trim() === '' || /^\s*apply_patch\b/.test(text)) return undefined
  return isToolCommand(given) ? undefined : shortLine(text)
}

/** `{"command":"create","path":…}` says what a tool is to do, not a shell. */
const isToolCommand = (given: ReturnType<typeof fieldsOf>): boolean =>
  given !== undefined && ['path', 'tasks', 'file_text', 'completed_indices', 'new_tasks'].some((key) => key in given)

function shortLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}

/** The list of things to do that an agent keeps by its tools, followed call by call. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../lib/object.ts'
import type { ToolCall } from '../../model/normalized.ts'

interface Todo {
  readonly text: string
  /** The agent's own word: `pending`, `in_progress`, `completed`. */
  readonly status: string
}

export class TodoTracker {
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

/** The list of things to do that an agent keeps by its tools, followed call by call. */
import { type Fields, fieldsOf, isObject, listOf, numberOf, stringOf } from '../../lib/object.ts'
import type { ToolCall } from '../../model/normalized.ts'

interface Todo {
  readonly text: string
  /** The agent's own word: `pending`, `in_progress`, `completed`. */
  readonly status: string
}

export class Todos {
  #todos: readonly Todo[] = []

  add({ name, arguments_json, input_json }: ToolCall): void {
    const given = fieldsOf(arguments_json ?? input_json)
    if (!given) return
    // `update_plan` of Codex, and the like of other agents, give the whole list each time.
    const whole = [given['plan'], given['todos']].find((one) => Array.isArray(one))
    if (whole && name !== null && /plan|todo/i.test(name)) this.#todos = listOf(whole).flatMap(todoOf)
    else if (name === 'todo_list') this.#todos = changed(this.#todos, given)
  }

  /** What is not done. */
  open(): readonly string[] {
    return this.#todos
      .filter(({ status }) => status !== 'completed' && status !== 'done')
      .map(({ text, status }) => (status === 'in_progress' ? `${text} (in progress)` : text))
  }
}

function todoOf(value: unknown): readonly Todo[] {
  if (!isObject(value)) return []
  const text = stringOf(value['step']) ?? stringOf(value['content']) ?? stringOf(value['text'])
  return text === undefined ? [] : [{ text, status: stringOf(value['status']) ?? 'pending' }]
}

/** `todo_list` of Amazon Q CLI: commands that change it. Places count from 0. */
function changed(todos: readonly Todo[], given: Fields): readonly Todo[] {
  switch (given['command']) {
    case 'create':
      return texts(given['tasks']).map(pending)
    case 'complete': {
      const done = new Set(listOf(given['completed_indices']))
      return todos.map((todo, at) => (done.has(at) ? { ...todo, status: 'completed' } : todo))
    }
    case 'remove': {
      const gone = new Set(listOf(given['remove_indices']))
      return todos.filter((_, at) => !gone.has(at))
    }
    case 'add': {
      const list = [...todos]
      const places = listOf(given['insert_indices'])
      texts(given['new_tasks']).forEach((text, at) => {
        list.splice(numberOf(places[at]) ?? list.length, 0, pending(text))
      })
      return list
    }
    default:
      return todos
  }
}

const pending = (text: string): Todo => ({ text, status: 'pending' })

/** Tasks are texts, or objects that hold one. */
const texts = (value: unknown): readonly string[] =>
  listOf(value).flatMap(
    (one) =>
      stringOf(one) ??
      (isObject(one) ? (stringOf(one['task_description']) ?? stringOf(one['description'])) : undefined) ??
      [],
  )

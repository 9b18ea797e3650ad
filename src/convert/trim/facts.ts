/** What can be said of messages without a model: what was asked, which files were touched, which commands were run. */
import { fieldsOf } from '../../lib/object.ts'
import { filesTouched } from '../../model/files/touched.ts'
import { shellWords } from '../../model/gist.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { Todos } from './todos.ts'

/** Of each kind, so many are held: the latest. */
const MOST = 400
const LONGEST = 240

/** All lists: the latest last. */
export interface Gathered {
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

export class Facts {
  #messages = 0
  #from: string | undefined
  #to: string | undefined
  #summary: string | undefined
  readonly #asked: string[] = []
  /** Path, and what was done to it last. */
  readonly #files = new Map<string, string>()
  /** By call, or by a number of our own where a call has no id. */
  readonly #commands = new Map<string, string>()
  readonly #todos = new Todos()

  /** @param isPrompt somebody asked this */
  add(message: NormalizedMessage, isPrompt: boolean): void {
    const { role, source_type, tool_call, metadata, timestamp } = message
    if (role !== 'meta') this.#messages++
    this.#from ??= timestamp
    this.#to = timestamp
    if (isPrompt) keepLatest(this.#asked, oneLine(textOf(message)))
    if (role === 'system' && metadata?.['kind'] === 'summary') this.#summary = textOf(message)
    if (!tool_call) return
    for (const { path, how } of filesTouched(message)) renew(this.#files, path, how === 'named' ? '' : ` (${how})`)
    if (source_type === 'tool_call') {
      this.#todos.add(tool_call)
      const command = commandOf(tool_call)
      if (command !== undefined) renew(this.#commands, tool_call.call_id ?? `#${message.id}`, command)
    } else this.#ended(tool_call)
  }

  /** How a command ended is told by its result. */
  #ended({ call_id, status, exit_code }: ToolCall): void {
    const command = call_id === null ? undefined : this.#commands.get(call_id)
    const failed = exit_code !== undefined && exit_code !== 0 ? `exit ${exit_code}` : status === 'error' ? 'failed' : ''
    if (call_id !== null && command !== undefined && failed !== '')
      this.#commands.set(call_id, `${command} (${failed})`)
  }

  gathered(): Gathered {
    return {
      messages: this.#messages,
      from: this.#from,
      to: this.#to,
      summary: this.#summary,
      asked: this.#asked.filter((text) => text !== ''),
      files: Array.from(this.#files, ([path, how]) => oneLine(path) + how),
      commands: [...this.#commands.values()],
      todos: this.#todos.open().map(oneLine),
    }
  }
}

function keepLatest(list: string[], text: string): void {
  list.push(text)
  if (list.length > MOST) list.shift()
}

/** Moves it to the end. */
function renew(map: Map<string, string>, key: string, value: string): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MOST) map.delete(map.keys().next().value ?? '')
}

const textOf = ({ segments }: NormalizedMessage): string => segments.map(({ text }) => text ?? '').join('\n')

/** A patch is told by its files. */
function commandOf({ arguments_json }: ToolCall): string | undefined {
  const given = fieldsOf(arguments_json)
  const command = given?.['command'] ?? given?.['cmd']
  const text = Array.isArray(command) ? shellWords(command) : command
  if (typeof text !== 'string' || text.trim() === '' || /^\s*apply_patch\b/.test(text)) return undefined
  return isCommandOfTool(given) ? undefined : oneLine(text)
}

/** `{"command":"create","path":…}` says what a tool is to do, not a shell. */
const isCommandOfTool = (given: ReturnType<typeof fieldsOf>): boolean =>
  given !== undefined && ['path', 'tasks', 'file_text', 'completed_indices', 'new_tasks'].some((key) => key in given)

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > LONGEST ? `${line.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}

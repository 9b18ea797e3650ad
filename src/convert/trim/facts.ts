/** What can be said of messages without a model: what was asked, which files were touched, which commands were run. */
import { fieldsOf } from '../../lib/object.ts'
import { findTouchedFiles } from '../../model/files/touched.ts'
import { toShellText } from '../../model/gist.ts'
import type { NormalizedMessage, ToolCall } from '../../model/normalized.ts'
import { TodoTracker } from './todos.ts'

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
    if (role === 'system' && metadata?.['kind'] === 'summary') this.#summary = segmentText(message)
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

/** The tools that a conversation offers to the model, and their handlers. */
import { type Fields, fieldsOf, isObject } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { legalToolName } from '../check/legal-names.ts'
import type { ToolCall } from '../message.ts'
import { OpenAITool, type ToolFields } from '../openai-tool.ts'
import type { Profile } from '../profile.ts'

export interface ToolContext {
  readonly call: ToolCall
  /** Aborted when the result is no longer needed. */
  readonly signal: AbortSignal
}

/**
 * Runs a tool. A string is the result; undefined is an empty one; anything else becomes JSON. The model receives thrown
 * errors.
 * @param args as the model wrote them, not validated; `{ input }` for a custom tool
 */
export type ToolFunction = (args: Fields, context: ToolContext) => unknown

/** A function, or an object with a method named like the tool. */
export type ToolHandler = ToolFunction | object

/** A tool in any form, alone or as `{ tool, handler }`, or with a `handler` or a method named like the tool. */
export type ToolSource =
  | OpenAITool
  | ToolFields
  | { readonly tool: OpenAITool | ToolFields; readonly handler?: ToolHandler }

/** A list, an object of tools by name, or an object with a list `tools` and a method for each tool. */
export type ToolSources =
  | readonly ToolSource[]
  | { readonly tools: readonly ToolSource[] }
  | { readonly [name: string]: ToolSource }

export interface ToolOptions {
  /** Timeout of the tool; default: that of the conversation. */
  readonly timeoutMs?: number
}

export interface RegisteredTool extends ToolOptions {
  readonly tool: OpenAITool
  readonly run: ToolFunction | undefined
}

export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>()

  get all(): readonly RegisteredTool[] {
    return [...this.#tools.values()]
  }

  find(name: string, profile: Profile): RegisteredTool | undefined {
    return this.#tools.get(name) ?? this.all.find(({ tool }) => legalToolName(tool.name, profile) === name)
  }

  /** Replaces a tool with the same name. */
  add(registered: RegisteredTool): void {
    this.#tools.set(registered.tool.name || registered.tool.type, registered)
  }

  delete(name: string): boolean {
    return this.#tools.delete(name)
  }

  clear(): void {
    this.#tools.clear()
  }
}

/** Throws `bad_usage` for a tool without a name. */
export function toRegisteredTool(source: ToolSource, handler?: ToolHandler, options: ToolOptions = {}): RegisteredTool {
  const tool = toTool(source)
  if (isRunByClient(tool) && tool.name === '')
    throw new AppError('bad_usage', 'The tool has no name.', 'ツールには名前が必要です。')
  const { handler: ownHandler, tool: inner } = source as Fields
  return { ...options, tool, run: findRunner(tool.name, [handler, ownHandler, source, inner]) }
}

/** Whether we run the tool. Other types are run by the server. */
export const isRunByClient = (tool: OpenAITool): boolean => tool.type === 'function' || tool.type === 'custom'

/** Each tool with its handler. */
export function* iterateToolSources(
  sources: ToolSources,
): Generator<readonly [source: ToolSource, handler?: ToolHandler]> {
  if (isSourceList(sources)) {
    for (const source of sources) yield [source]
    return
  }
  if (!isObject(sources))
    throw new AppError(
      'bad_usage',
      'Pass tools as a list, an object keyed by name, or an object with a list `tools`.',
      'ツールは、一覧、名前ごとのオブジェクト、または一覧 `tools` を持つオブジェクトで渡してください。',
    )
  const { tools } = sources as { readonly tools?: unknown }
  if (Array.isArray(tools)) for (const source of tools) yield [source as ToolSource, sources]
  else for (const [name, source] of Object.entries(sources)) yield [withNameOfKey(source as ToolSource, name)]
}

const isSourceList = (sources: ToolSources): sources is readonly ToolSource[] => Array.isArray(sources)

/** Uses the key if the tool has no name. */
function withNameOfKey(source: ToolSource, name: string): ToolSource {
  if (toTool(source).name !== '' || !isRunByClient(toTool(source))) return source
  const fields: Fields = source instanceof OpenAITool ? source.body() : (source as Fields)
  const inner = fieldsOf(fields['tool']) ?? fields
  const kind = isObject(inner['custom']) ? 'custom' : 'function'
  const tool = isObject(inner[kind]) ? { ...inner, [kind]: { ...inner[kind], name } } : { ...inner, name }
  return { tool: tool as ToolFields, handler: (fields['handler'] ?? source) as ToolHandler }
}

function toTool(source: ToolSource): OpenAITool {
  if (!isObject(source))
    throw new AppError('bad_usage', 'A tool is an object with a name.', 'ツールは名前を持つオブジェクトです。')
  const inner = (source as Fields)['tool']
  if (inner instanceof OpenAITool) return inner
  return source instanceof OpenAITool ? source : new OpenAITool(source as ToolFields)
}

function findRunner(name: string, candidates: readonly unknown[]): ToolFunction | undefined {
  for (const candidate of candidates) {
    if (typeof candidate === 'function') return candidate as ToolFunction
    const method = typeof candidate === 'object' && candidate !== null ? (candidate as Fields)[name] : undefined
    if (typeof method === 'function') return (args, context) => method.call(candidate, args, context)
  }
  return undefined
}

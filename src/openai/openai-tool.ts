/** The specification's class OpenAITool: a tool that a model may call. */

import { fieldsOf, isObject, nonEmptyStringOf } from '../lib/unknown-values.ts'
import type { Open } from './message.ts'

/** Fields of a tool. Some programs nest them in `tool` or `function`. */
export interface ToolFields {
  readonly type?: Open<'function' | 'custom'>
  readonly name?: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly parameters?: object
  /** Makes the server enforce the schema. */
  readonly strict?: boolean
  /** Input of a custom tool: free text, or a grammar. */
  readonly format?: object
  readonly [key: string]: unknown
}

/**
 * A tool of type `function`, `custom`, or one that the server itself runs.
 *
 * @example
 * const tool = new OpenAITool({ name: 'get_database_tables', description: 'Lists all tables', parameters: { type: 'object', properties: {} } })
 * request.tools = [tool.body()]
 */
export class OpenAITool {
  readonly type: Open<'function' | 'custom'>
  /** Empty if none was given. */
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of the arguments. */
  readonly parameters: object | undefined
  readonly strict: boolean | undefined
  readonly format: object | undefined
  /** Other fields, such as those of tools that the server runs. */
  readonly #rest: { readonly [key: string]: unknown }

  /**
   * @param fields flat, as `{ type, function: {…} }`, as `{ type, custom: {…} }`, or any of these in `{ tool: {…} }`
   */
  constructor(fields: ToolFields) {
    const outer = fieldsOf(fields['tool']) ?? fields
    const type = nonEmptyStringOf(outer['type']) ?? (isObject(outer['custom']) ? 'custom' : 'function')
    const inner = fieldsOf(outer[type]) ?? {}
    const { name, description, parameters, strict, format, ...rest } = { ...outer, ...inner }
    this.type = type
    this.name = nonEmptyStringOf(name) ?? ''
    this.description = nonEmptyStringOf(description)
    this.parameters = fieldsOf(parameters)
    this.strict = typeof strict === 'boolean' ? strict : undefined
    this.format = fieldsOf(format)
    this.#rest = rest
  }

  /** The tool as sent in a request, with `strict` inside `function`, as the API requires. */
  body(): { readonly [key: string]: unknown } {
    const { name, description, parameters, strict, format } = this
    if (this.type === 'function')
      return { type: 'function', function: omitUndefined({ name, description, parameters, strict }) }
    if (this.type === 'custom') return { type: 'custom', custom: omitUndefined({ name, description, format }) }
    return omitUndefined({
      ...this.#rest,
      type: this.type,
      name: name || undefined,
      description,
      parameters,
      strict,
      format,
    })
  }

  /** Same as {@link body}, so that requests containing the tool can be serialized. */
  toJSON(): { readonly [key: string]: unknown } {
    return this.body()
  }
}

function omitUndefined(fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

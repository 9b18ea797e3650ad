/** OpenAITool as library users know it from the specification: a tool that a model may call. */

import { fieldsOf, isObject, nonEmptyStringOf } from '../lib/unknown-values.ts'
import type { Open } from './message.ts'

/** What a tool is made of. `tool` and `function` hold the same fields one level down, as others write them. */
export interface ToolFields {
  readonly type?: Open<'function' | 'custom'>
  readonly name?: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly parameters?: object
  /** Asks the server to hold the model to the schema. */
  readonly strict?: boolean
  /** What a custom tool takes as input: free text, or a grammar. */
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
  /** Empty where none was given. */
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of the arguments. */
  readonly parameters: object | undefined
  readonly strict: boolean | undefined
  readonly format: object | undefined
  /** What else was given; tools that the server runs are described by it. */
  readonly #rest: { readonly [key: string]: unknown }

  /** @param fields flat, as `{ type, function: {…} }`, as `{ type, custom: {…} }`, or any of these as `{ tool: {…} }` */
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

  /** The tool as a request holds it, with `strict` inside `function`, where the API looks for it. */
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

  /** The same as {@link body}, so that a request can be written with the tool in it. */
  toJSON(): { readonly [key: string]: unknown } {
    return this.body()
  }
}

function omitUndefined(fields: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

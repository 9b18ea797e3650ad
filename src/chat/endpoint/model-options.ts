/** How the model answers: instruction, sampling, effort, limits and the form of the answer. */

import { fieldsOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Endpoint } from './endpoint.ts'

export interface ModelOptions {
  /** Sent as a system message, besides the agent's instruction. */
  readonly system?: string
  readonly temperature?: number
  readonly reasoningEffort?: string
  /** In tokens. */
  readonly maxOutput?: number
  /** JSON Schema of the answer. */
  readonly schema?: { readonly [key: string]: unknown }
  /** Models of the same server that answer when the chosen one cannot, in this order. */
  readonly fallback?: readonly string[]
}

/** Fields of the request, in the form of chat completions. */
export function requestParameters(
  { temperature, reasoningEffort, maxOutput, schema }: ModelOptions,
  { server, api }: Pick<Endpoint, 'server' | 'api'>,
): { readonly [key: string]: unknown } {
  // OpenAI's reasoning models reject the old name; local servers do not know the new one.
  const limitKey = server === 'openai' || api !== 'chat' ? 'max_completion_tokens' : 'max_tokens'
  return {
    ...(temperature !== undefined && { temperature }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(maxOutput !== undefined && { [limitKey]: maxOutput }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: schemaName(schema), schema } } }),
  }
}

const schemaName = ({ title }: { readonly [key: string]: unknown }): string =>
  (typeof title === 'string' ? title.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 64) : '') || 'answer'

/** @param path for messages. Throws `bad_usage`. */
export function parseSchema(text: string, path: string): NonNullable<ModelOptions['schema']> {
  const parsed = tryParse(text)
  const schema = fieldsOf(parsed)
  if (schema && !Array.isArray(parsed)) return schema
  throw new AppError(
    'bad_usage',
    `${path} is not a JSON Schema. It must contain a JSON object, such as {"type": "object", "properties": {}}.`,
    `${path} は JSON Schema ではありません。{"type": "object", "properties": {}} のような JSON オブジェクトが必要です。`,
  )
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

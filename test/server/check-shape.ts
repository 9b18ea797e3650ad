/** Checks that a reply has exactly the shape in the API description: nothing missing, nothing extra. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema
}

const shapes = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../src/server/openapi/shapes.json'), 'utf8'),
) as Record<string, Schema>

export function shapeProblems(name: string, value: unknown): readonly string[] {
  const schema = shapes[name]
  return schema ? problems(schema, value, name) : [`there is no shape ${name}`]
}

function problems(schema: Schema, value: unknown, at: string): readonly string[] {
  if (schema.$ref) return problems(shapes[schema.$ref.split('/').at(-1) ?? ''] ?? {}, value, at)
  if (schema.anyOf) {
    const tried = schema.anyOf.map((one) => problems(one, value, at))
    return tried.some((one) => one.length === 0) ? [] : (tried.at(-1) ?? [])
  }
  if (schema.const !== undefined)
    return value === schema.const ? [] : [`${at}: ${JSON.stringify(value)} is not ${schema.const}`]
  if (schema.enum)
    return schema.enum.includes(value) ? [] : [`${at}: ${JSON.stringify(value)} is none of ${schema.enum.join(', ')}`]
  if (schema.type === undefined) return []
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (type !== schema.type) return [`${at}: ${type} instead of ${schema.type}`]
  if (type === 'array')
    return (value as unknown[]).flatMap((one, index) => problems(schema.items ?? {}, one, `${at}[${index}]`))
  return type === 'object' ? inObject(schema, value as Record<string, unknown>, at) : []
}

function inObject(schema: Schema, value: Record<string, unknown>, at: string): readonly string[] {
  const { properties, required = [], additionalProperties } = schema
  const missing = required.filter((key) => !(key in value)).map((key) => `${at}.${key} is missing`)
  const inner = Object.entries(value).flatMap(([key, one]) => {
    const known = properties?.[key] ?? additionalProperties
    if (!known) return properties && at !== '' ? [`${at}.${key} is promised by nobody`] : []
    return problems(known, one, `${at}.${key}`)
  })
  return [...missing, ...inner]
}

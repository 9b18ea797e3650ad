/** Values that go through other programs' JSON: numbers and keys that it would change travel as text. */
import { isObject } from '../unknown-values.ts'
import { type JsonValue, parseJson } from './lossless.ts'
import { writeJson } from './write.ts'

export function toPortableJson(value: JsonValue): unknown {
  const text = writeJson(value)
  return text === JSON.stringify(value) ? value : { exact_json: text }
}

/** As it was spelt. */
export function fromPortableJson(value: unknown): JsonValue {
  const text = isObject(value) ? value['exact_json'] : undefined
  const exact = typeof text === 'string' ? parseJson(text) : undefined
  return exact?.ok ? exact.value : ((value ?? null) as JsonValue)
}

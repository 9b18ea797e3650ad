/** The records of a source as they stand there, but for ciphertext: of that its hash and its length. */
import { sha256 } from '../../../lib/hash.ts'
import { type JsonValue, plainJson } from '../../../lib/json/lossless.ts'
import { isObject } from '../../../lib/object.ts'

const SECRET: ReadonlySet<string> = new Set(['encrypted_content', 'encrypted_function_args'])

export interface Masked<Value = unknown> {
  readonly value: Value
  readonly masked: number
}

/** Deeper than this nothing is shown. */
const DEEPEST = 200

export function masked(value: unknown): Masked {
  let count = 0
  const hidden = (secret: unknown): unknown => {
    if (typeof secret === 'string') {
      count++
      return { sha256: sha256(secret), bytes: Buffer.byteLength(secret) }
    }
    if (Array.isArray(secret)) return secret.map(hidden)
    if (isObject(secret)) return hidden(JSON.stringify(secret))
    return secret
  }
  const shown = (one: unknown, depth: number): unknown => {
    if (typeof one !== 'object' || one === null) return one
    if (depth > DEEPEST) return null
    if (Array.isArray(one)) return one.map((inner) => shown(inner, depth + 1))
    const fields = one as Record<string, unknown>
    const isSealed = fields['type'] === 'redacted_thinking'
    return Object.fromEntries(
      Object.entries(fields).map(([key, inner]) => [
        key,
        SECRET.has(key) || (isSealed && key === 'data') ? hidden(inner) : shown(inner, depth + 1),
      ]),
    )
  }
  return { value: shown(plainJson(value as JsonValue), 0), masked: count }
}

/** A key that holds ciphertext, and its value as far as it goes; or letters without end, as only ciphertext and images have. */
const SEALED = new RegExp(
  `((?:${[...SECRET].join('|')})\\\\*"\\s*:\\s*\\\\*")([^"\\\\]+)|([A-Za-z0-9+/_=-]{200,})`,
  'g',
)

/** Of a text that is no JSON, so that nobody can say where its ciphertext begins and ends. */
export function maskedText(text: string): Masked<string> {
  let count = 0
  const value = text.replaceAll(SEALED, (_, before: string | undefined, named: string | undefined, long = '') => {
    count++
    const secret = named ?? long
    return `${before ?? ''}[sha256 ${sha256(secret)}, ${Buffer.byteLength(secret)} bytes]`
  })
  return { value, masked: count }
}

/** The records of a source as they stand there, but for ciphertext: of that its hash and its length. */
import { sha256 } from '../../../lib/hash.ts'
import { type JsonValue, plainJson } from '../../../lib/json/lossless.ts'
import { isObject } from '../../../lib/unknown-values.ts'

const SECRET_KEYS: ReadonlySet<string> = new Set(['encrypted_content', 'encrypted_function_args'])

export interface MaskResult<Value = unknown> {
  readonly value: Value
  readonly masked: number
}

/** Deeper than this nothing is shown. */
const MAX_DEPTH = 200

export function maskRecord(value: unknown): MaskResult {
  let count = 0
  const hash = (secret: unknown): unknown => {
    if (typeof secret === 'string') {
      count++
      return { sha256: sha256(secret), bytes: Buffer.byteLength(secret) }
    }
    if (Array.isArray(secret)) return secret.map(hash)
    if (isObject(secret)) return hash(JSON.stringify(secret))
    return secret
  }
  const mask = (one: unknown, depth: number): unknown => {
    if (typeof one !== 'object' || one === null) return one
    if (depth > MAX_DEPTH) return null
    if (Array.isArray(one)) return one.map((inner) => mask(inner, depth + 1))
    const fields = one as Record<string, unknown>
    const isSealed = fields['type'] === 'redacted_thinking'
    return Object.fromEntries(
      Object.entries(fields).map(([key, inner]) => [
        key,
        SECRET_KEYS.has(key) || (isSealed && key === 'data') ? hash(inner) : mask(inner, depth + 1),
      ]),
    )
  }
  return { value: mask(plainJson(value as JsonValue), 0), masked: count }
}

/** A key that holds ciphertext, and its value as far as it goes; or letters without end, as only ciphertext and images have. */
const CIPHERTEXT_PATTERN = new RegExp(
  `((?:${[...SECRET_KEYS].join('|')})\\\\*"\\s*:\\s*\\\\*")([^"\\\\]+)|([A-Za-z0-9+/_=-]{200,})`,
  'g',
)

/** Of a text that is no JSON, so that nobody can say where its ciphertext begins and ends. */
export function maskText(text: string): MaskResult<string> {
  let count = 0
  const value = text.replaceAll(
    CIPHERTEXT_PATTERN,
    (_, before: string | undefined, named: string | undefined, long = '') => {
      count++
      const secret = named ?? long
      return `${before ?? ''}[sha256 ${sha256(secret)}, ${Buffer.byteLength(secret)} bytes]`
    },
  )
  return { value, masked: count }
}

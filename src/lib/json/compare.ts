/** Compares JSON values with each other, and with an earlier digest. */
import { sha256 } from '../hash.ts'
import { type Fields, toJsonText } from '../unknown-values.ts'

type JsonFields = { readonly [key: string]: unknown }

/**
 * Keys with the value undefined count as missing, as in JSON. Values nested deeper than `levels` count as different.
 */
export function isSameJson(a: unknown, b: unknown, levels = 500): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (levels === 0 || Array.isArray(a) !== Array.isArray(b)) return false
  const first = a as JsonFields
  const second = b as JsonFields
  for (const key in first) if (!isSameJson(first[key], second[key], levels - 1)) return false
  for (const key in second) if (second[key] !== undefined && first[key] === undefined) return false
  return true
}

/** Digest of the object's JSON without one of its keys. */
export function digestWithout(object: Fields, except: string): string {
  const { [except]: _, ...rest } = object
  return digestOfText(toJsonText(rest))
}

/** @param json compact JSON of the object */
export const digestOfText = (json: string): string => sha256(json).slice(0, 16)

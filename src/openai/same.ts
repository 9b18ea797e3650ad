/** Tells whether two JSON values say the same, whatever the order of their keys. */

import { isObject } from '../lib/object.ts'

/** A key whose value is undefined counts as missing, as it does in JSON. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].every((key) => sameJson(a[key], b[key]))
}

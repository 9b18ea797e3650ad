/** Whether two JSON values say the same, whatever the order of their keys. */

type Fields = { readonly [key: string]: unknown }

/** A key whose value is undefined counts as missing, as it does in JSON. What is nested deeper than anybody writes counts as different. */
export function sameJson(a: unknown, b: unknown, levels = 500): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (levels === 0 || Array.isArray(a) !== Array.isArray(b)) return false
  const left = a as Fields
  const right = b as Fields
  for (const key in left) if (!sameJson(left[key], right[key], levels - 1)) return false
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false
  return true
}

/** Whether two JSON values say the same, without writing either of them out. */

/** What is nested deeper than anybody writes is not compared: it counts as different. */
export function sameJson(a: unknown, b: unknown, levels = 500): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (levels === 0 || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => key in b && sameJson((a as Fields)[key], (b as Fields)[key], levels - 1))
}

type Fields = { readonly [key: string]: unknown }

/** Reads values of unknown type. */

export type Fields = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const fieldsOf = (value: unknown): Fields | undefined => (isObject(value) ? value : undefined)

export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const nonEmptyStringOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Parses a text that is a JSON object or array. Scalars return undefined. */
export function parseStructure(text: string): object | undefined {
  let first = 0
  while (isJsonSpace(text.charCodeAt(first))) first++
  const opening = text.charCodeAt(first)
  if (opening !== 123 && opening !== 91) return undefined
  // Code and prose begin with brackets, too, and an exception costs more than looking at the end.
  let last = text.length - 1
  while (isJsonSpace(text.charCodeAt(last))) last--
  if (text.charCodeAt(last) !== opening + 2) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

const isJsonSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** JSON text of a value; a note if it is nested too deeply. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '"[nested too deep]"'
  }
}

/** Gathers fields that come in pieces and that nobody here knows. */

import { isObject } from '../../lib/object.ts'

/** Words that name something: servers repeat them, and they are never continued. */
const LABELS = new Set(['id', 'type', 'name', 'role', 'object', 'model', 'format', 'status'])

/** What lies deeper comes whole. */
const LEVELS = 6

export type Gathered = { [key: string]: unknown }

/**
 * Puts a value into `target[key]`: lists grow, objects are gathered field by field, nothing never takes the place of
 * something. The value itself is not changed.
 * @param texts whether a text continues the one before it, as in a delta, or takes its place
 */
export function gather(
  target: Gathered,
  key: string,
  value: unknown,
  texts: 'continue' | 'replace',
  levels = LEVELS,
): void {
  if (value === null || value === undefined || key === '__proto__') return
  const before = target[key]
  if (typeof value === 'string') target[key] = gatheredText(before, value, texts === 'continue' && !LABELS.has(key))
  else if (levels === 0) target[key] = value
  else if (Array.isArray(value)) {
    const list = Array.isArray(before) ? before : []
    for (const item of value) list.push(item)
    target[key] = list
  } else if (isObject(value)) {
    const fields: Gathered = isObject(before) ? before : {}
    for (const name in value) gather(fields, name, value[name], texts, levels - 1)
    target[key] = fields
  } else target[key] = value
}

function gatheredText(before: unknown, text: string, continues: boolean): unknown {
  if (continues && typeof before === 'string') return before + text
  return text === '' ? (before ?? '') : text
}

/** What was gathered so far, not to be changed by what follows. */
export function gathered(fields: Gathered, levels = LEVELS): Gathered {
  const copy: Gathered = {}
  for (const key in fields) {
    const value = fields[key]
    copy[key] = Array.isArray(value) ? [...value] : isObject(value) && levels > 0 ? gathered(value, levels - 1) : value
  }
  return copy
}

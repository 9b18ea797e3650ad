/** Gathers fields that come in pieces and that nobody here knows. */

import { isObject } from '../../lib/unknown-values.ts'

/** Words that name something: servers repeat them, and they are never continued. */
const LABEL_KEYS = new Set(['id', 'type', 'name', 'role', 'object', 'model', 'format', 'status'])

/** What lies deeper comes whole. */
const MAX_MERGE_DEPTH = 6

export type MergedFields = { [key: string]: unknown }

/**
 * Puts a value into `target[key]`: lists grow, objects are gathered field by field, nothing never takes the place of
 * something. The value itself is not changed.
 * @param texts whether a text continues the one before it, as in a delta, or takes its place
 */
export function mergeField(
  target: MergedFields,
  key: string,
  value: unknown,
  texts: 'continue' | 'replace',
  levels = MAX_MERGE_DEPTH,
): void {
  if (value === null || value === undefined || key === '__proto__') return
  const before = target[key]
  if (typeof value === 'string') target[key] = mergeText(before, value, texts === 'continue' && !LABEL_KEYS.has(key))
  else if (levels === 0) target[key] = value
  else if (Array.isArray(value)) {
    const list = Array.isArray(before) ? before : []
    for (const item of value) list.push(item)
    target[key] = list
  } else if (isObject(value)) {
    const fields: MergedFields = isObject(before) ? before : {}
    for (const name in value) mergeField(fields, name, value[name], texts, levels - 1)
    target[key] = fields
  } else target[key] = value
}

function mergeText(before: unknown, text: string, continues: boolean): unknown {
  if (continues && typeof before === 'string') return before + text
  return text === '' ? (before ?? '') : text
}

/** What was gathered so far, not to be changed by what follows. */
export function copyMergedFields(fields: MergedFields, levels = MAX_MERGE_DEPTH): MergedFields {
  const copy: MergedFields = {}
  for (const key in fields) {
    const value = fields[key]
    copy[key] = Array.isArray(value)
      ? [...value]
      : isObject(value) && levels > 0
        ? copyMergedFields(value, levels - 1)
        : value
  }
  return copy
}

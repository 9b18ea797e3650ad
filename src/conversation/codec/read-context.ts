/** One reading of a value: where it stands, how strict it is, what it had to mend. */

import type { SetAside } from '../record.ts'
import type { TangentTime } from '../zoned-time.ts'

export type RepairCode =
  | 'missing_field'
  | 'unreadable_field'
  | 'unknown_member'
  | 'old_context_manager'
  | 'text_summary'
  | 'bare_history'
  | 'entry_set_aside'

/** Something the original program would have refused, and what was done instead. */
export interface Repair {
  readonly code: RepairCode
  /** `$.history[3].user.timestamp` */
  readonly path: string
  /** A sentence for a person. Never conversation text. */
  readonly reason: string
}

export interface ReadContext {
  /** As the original reads: it refuses what it does not know of, and drops unknown fields. */
  readonly strict: boolean
  /** Whether some text may hold half of a surrogate pair, which the original refuses. */
  readonly refusesLoneSurrogates: boolean
  readonly path: (string | number)[]
  /** The field that is being read below that path, where it holds a single value. */
  leaf: string | undefined
  readonly repairs: Repair[]
  readonly setAside: SetAside[]
  readonly duplicates: ReadonlyMap<object, string>
  readonly now: TangentTime
}

/** Thrown and caught inside the codec only. */
export class UnreadableError extends Error {
  readonly path: string
  readonly field: string | undefined

  constructor(context: ReadContext, reason: string, field?: string) {
    super(reason)
    this.path = formatPath(context.leaf === undefined ? context.path : [...context.path, context.leaf])
    this.field = field
  }
}

export function addRepair(context: ReadContext, code: RepairCode, reason: string): void {
  context.repairs.push({ code, path: formatPath(context.path), reason })
}

/** Whether the object names a key twice. Asking a map for an object costs memory in the object, so an empty one is not asked. */
export function hasDuplicateKeys(value: object, { duplicates }: ReadContext): boolean {
  return duplicates.size > 0 && duplicates.has(value)
}

export function formatPath(path: readonly (string | number)[]): string {
  let text = '$'
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  }
  return text
}

/** A value's kind in words, without the value. */
export function describeKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return value.constructor?.name === 'JsonNumber' ? 'a number' : 'an object'
  return typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`
}

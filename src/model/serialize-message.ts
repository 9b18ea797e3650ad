/** A message as one line of JSON. */
import type { Metadata } from './metadata.ts'
import type { NormalizedMessage, ToolCall } from './normalized.ts'

export interface SerializedMessage {
  readonly json: string
  /** Parts nested deeper than JSON.stringify bears were left out. */
  readonly cut: boolean
}

export function serializeMessage(message: NormalizedMessage): SerializedMessage {
  try {
    return { json: JSON.stringify(message), cut: false }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { json: JSON.stringify(withoutDeepParts(message)), cut: true }
  }
}

function withoutDeepParts({ tool_call, metadata, ...rest }: NormalizedMessage): NormalizedMessage {
  return {
    ...rest,
    ...(tool_call ? { tool_call: shallowFields(tool_call) as ToolCall } : {}),
    ...(metadata ? { metadata: { ...(shallowFields(metadata) as Metadata), too_deep: true } } : {}),
  }
}

function shallowFields(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => isShallow(inner, MAX_DEPTH)))
}

const MAX_DEPTH = 200

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

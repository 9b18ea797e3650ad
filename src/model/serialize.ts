/** A message as one line of JSON. */
import type { Metadata, NormalizedMessage, ToolCall } from './normalized.ts'

export interface Serialized {
  readonly json: string
  /** Parts nested deeper than JSON.stringify bears were left out. */
  readonly cut: boolean
}

export function serialize(message: NormalizedMessage): Serialized {
  try {
    return { json: message.tool_call ? withTool(message, message.tool_call) : JSON.stringify(message), cut: false }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { json: JSON.stringify(flatten(message)), cut: true }
  }
}

/** A tool's output is most of a log, and its parsed form is the same text again: it need not be written anew. */
function withTool(message: NormalizedMessage, tool: ToolCall): string {
  const { output, output_json, ...rest } = tool
  if (output === undefined || output_json === undefined) return JSON.stringify(message)
  const { tool_call: _, ...others } = message
  const head = JSON.stringify(others)
  const call = JSON.stringify(rest)
  const text = JSON.stringify(output)
  return `${head.slice(0, -1)},"tool_call":${call.slice(0, -1)},"output":${text},"output_json":${oneLine(output)}}}`
}

/** Line breaks in JSON text stand only between its tokens, where a space does as well. */
const oneLine = (json: string): string =>
  json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n]/g, ' ') : json

function flatten({ tool_call, metadata, ...rest }: NormalizedMessage): NormalizedMessage {
  return {
    ...rest,
    ...(tool_call ? { tool_call: shallowFields(tool_call) as ToolCall } : {}),
    ...(metadata ? { metadata: { ...(shallowFields(metadata) as Metadata), too_deep: true } } : {}),
  }
}

function shallowFields(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => isShallow(inner, DEEPEST)))
}

const DEEPEST = 200

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1))
}

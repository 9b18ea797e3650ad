/** Where tools come from, and what is counted of the files they write. */

import { NATIVE_TOOLS } from '../limits.ts'
import type { FileLineTracker, ToolOrigin } from '../record.ts'

export function isNativeOrigin(origin: ToolOrigin): boolean {
  return origin === NATIVE_TOOLS
}

export function originLabel(origin: ToolOrigin): string {
  return isNativeOrigin(origin) ? 'Built-in' : `${origin} (MCP)`
}

/** Negative when the user removed lines. */
export function linesByUser({ before_fswrite_lines, prev_fswrite_lines }: FileLineTracker): number {
  return Number(before_fswrite_lines) - Number(prev_fswrite_lines)
}

export function linesByAgent({ lines_added_by_agent, lines_removed_by_agent }: FileLineTracker): number {
  return Number(lines_added_by_agent) + Number(lines_removed_by_agent)
}

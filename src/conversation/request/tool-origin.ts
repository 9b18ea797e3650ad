/** Where tools come from. */

import { NATIVE_TOOLS } from '../limits.ts'
import type { ToolOrigin } from '../record.ts'

export function isNativeOrigin(origin: ToolOrigin): boolean {
  return origin === NATIVE_TOOLS
}

export function originLabel(origin: ToolOrigin): string {
  return isNativeOrigin(origin) ? 'Built-in' : `${origin} (MCP)`
}

/** How a tool call ended, as a sign and a few words. */
import type { ToolCall } from '../../model/normalized.ts'
import { formatShortDuration } from '../../model/tool-summary.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { codeLabel } from './text.ts'

const STATUS_ICONS: { readonly [status in ToolCall['status']]: string } = {
  pending: paint.yellow('…'),
  success: paint.green('✓'),
  error: paint.red('✗'),
  cancelled: paint.yellow('⊘'),
  aborted: paint.yellow('⊘'),
  missing: paint.yellow('?'),
}

export function formatOutcome({ status, exit_code, duration_ms }: ToolCall): string {
  const words = [STATUS_ICONS[status]]
  if (status !== 'success' && status !== 'error') words.push(codeLabel(status))
  if (exit_code !== undefined && exit_code !== 0) words.push(say(`exit ${exit_code}`, `終了コード ${exit_code}`))
  if (duration_ms !== undefined) words.push(paint.dim(formatShortDuration(duration_ms)))
  return words.join(' ')
}

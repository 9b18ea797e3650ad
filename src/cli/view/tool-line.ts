/** One line that says what a tool call did. */
import { duration } from '../../model/gist.ts'
import type { ToolCall } from '../../model/normalized.ts'
import { say } from '../language.ts'
import { paint } from './paint.ts'
import { word } from './words.ts'

const MARKS: { readonly [status in ToolCall['status']]: string } = {
  pending: paint.yellow('…'),
  success: paint.green('✓'),
  error: paint.red('✗'),
  cancelled: paint.yellow('⊘'),
  aborted: paint.yellow('⊘'),
  missing: paint.yellow('?'),
}

export function outcomeOf({ status, exit_code, duration_ms }: ToolCall): string {
  const words = [MARKS[status]]
  if (status !== 'success' && status !== 'error') words.push(word(status))
  if (exit_code !== undefined && exit_code !== 0) words.push(say(`exit ${exit_code}`, `終了コード ${exit_code}`))
  if (duration_ms !== undefined) words.push(paint.dim(duration(duration_ms)))
  return words.join(' ')
}

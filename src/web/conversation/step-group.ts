/** What the line of a group of steps says: calls, failures, changed files, duration. */
import type { MessageItem } from '../../model/api/message.ts'
import { countDiffLines } from './tool/diff.ts'

export interface StepSummary {
  readonly failed: number
  /** In the order of their first change. */
  readonly files: readonly string[]
  readonly added: number
  readonly removed: number
  /** From the first message to the last; undefined below a second. */
  readonly duration: number | undefined
}

const MIN_DURATION_MS = 1000

export function summarizeSteps(messages: readonly MessageItem[]): StepSummary {
  const files = new Set<string>()
  let failed = 0
  let added = 0
  let removed = 0
  for (const { tool_call: call, show } of messages) {
    if (!call || show !== 'tool') continue
    if (call.status === 'error') failed++
    for (const { path, how } of call.files ?? []) if (how !== 'named') files.add(path)
    if (call.diff === undefined || call.status === 'error') continue
    const lines = countDiffLines(call.diff)
    added += lines.added
    removed += lines.removed
  }
  const times = messages.flatMap(({ timestamp }) => (timestamp === null ? [] : Date.parse(timestamp)))
  const lasted = times.length > 1 ? Math.max(...times) - Math.min(...times) : 0
  return { failed, files: [...files], added, removed, duration: lasted < MIN_DURATION_MS ? undefined : lasted }
}

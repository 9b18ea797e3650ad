/** Counts per file the lines that the agent wrote and those that the user changed in between. */

import { JsonMap } from '../lib/json/lossless.ts'
import type { FileLineTracker } from './record.ts'
import type { ConversationState } from './state.ts'

const UNTRACKED: FileLineTracker = {
  prev_fswrite_lines: 0,
  before_fswrite_lines: 0,
  after_fswrite_lines: 0,
  lines_added_by_agent: 0,
  lines_removed_by_agent: 0,
  is_first_write: true,
}

/** Negative if the user removed lines. */
export function linesByUser({ before_fswrite_lines, prev_fswrite_lines }: FileLineTracker): number {
  return Number(before_fswrite_lines) - Number(prev_fswrite_lines)
}

export function linesByAgent({ lines_added_by_agent, lines_removed_by_agent }: FileLineTracker): number {
  return Number(lines_added_by_agent) + Number(lines_removed_by_agent)
}

/** Records that the agent wrote a file. `before` and `after` are its contents around the write. */
export function trackWrite(state: ConversationState, path: string, before: string, after: string): ConversationState {
  const known = state.file_line_tracker.get(path)
  const tracker = updateTracker(known ?? UNTRACKED, before, after)
  return { ...state, file_line_tracker: new JsonMap([...state.file_line_tracker, [path, tracker]]) }
}

/** Before the first write, no lines count as changed by the user. */
function updateTracker(tracker: FileLineTracker, before: string, after: string): FileLineTracker {
  const old = splitLines(before)
  const now = splitLines(after)
  const keptCount = countKeptLines(old, now)
  return {
    prev_fswrite_lines: tracker.is_first_write ? old.length : tracker.after_fswrite_lines,
    before_fswrite_lines: old.length,
    after_fswrite_lines: now.length,
    lines_added_by_agent: now.length - keptCount,
    lines_removed_by_agent: old.length - keptCount,
    is_first_write: false,
  }
}

/** A final newline ends the last line and does not start another. */
function splitLines(text: string): readonly string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

/** Above this product of lengths, moved lines count as unchanged: the table of all pairs would be too large. */
const MAX_LINE_PAIRS = 4_000_000

/** Length of the longest common subsequence of lines. */
function countKeptLines(old: readonly string[], now: readonly string[]): number {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const changed = old.slice(head, old.length - tail)
  const written = now.slice(head, now.length - tail)
  const large = changed.length * written.length > MAX_LINE_PAIRS
  return head + tail + (large ? countCommonLines(changed, written) : longestCommonLength(changed, written))
}

function longestCommonLength(a: readonly string[], b: readonly string[]): number {
  let row = new Uint32Array(b.length + 1)
  for (const line of a) {
    const next = new Uint32Array(b.length + 1)
    for (let at = 1; at <= b.length; at++) {
      next[at] = line === b[at - 1] ? (row[at - 1] ?? 0) + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0)
    }
    row = next
  }
  return row[b.length] ?? 0
}

function countCommonLines(a: readonly string[], b: readonly string[]): number {
  const remaining = new Map<string, number>()
  for (const line of a) remaining.set(line, (remaining.get(line) ?? 0) + 1)
  let keptCount = 0
  for (const line of b) {
    const count = remaining.get(line) ?? 0
    if (count === 0) continue
    remaining.set(line, count - 1)
    keptCount++
  }
  return keptCount
}

/** What changed from one text to another, as a unified diff. */
import { type ArrayChange, diffArrays } from 'diff'

interface DiffLine {
  readonly mark: ' ' | '-' | '+'
  readonly line: string
}

const CONTEXT_LINES = 3
/** Finding the shortest edits takes time quadratic in their number. */
const MAX_CHANGED_LINES = 600

/** Empty when nothing changed. Null stands for a file that is not there. */
export function unifiedDiff(name: string, before: string | null, after: string | null): string {
  if (before === after) return ''
  const hunks = hunksOf(editsOf(linesOf(before ?? ''), linesOf(after ?? '')))
  const head = `--- ${before === null ? '/dev/null' : name}\n+++ ${after === null ? '/dev/null' : name}\n`
  return head + hunks.join('')
}

/** Each with its newline; a last line may lack one. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The shortest edits; beyond {@link MAX_CHANGED_LINES}, everything between the first and the last change is replaced. */
function editsOf(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  const changes = diffArrays([...old], [...now], { maxEditLength: MAX_CHANGED_LINES }) ?? replacedMiddle(old, now)
  return changes.flatMap(({ value, removed, added }) =>
    value.map((line): DiffLine => ({ mark: removed ? '-' : added ? '+' : ' ', line })),
  )
}

type LineChange = Pick<ArrayChange<string>, 'value' | 'removed' | 'added'>

function replacedMiddle(old: readonly string[], now: readonly string[]): readonly LineChange[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const change = (value: readonly string[], removed: boolean, added: boolean) => ({ value: [...value], removed, added })
  return [
    change(old.slice(0, head), false, false),
    change(old.slice(head, old.length - tail), true, false),
    change(now.slice(head, now.length - tail), false, true),
    change(old.slice(old.length - tail), false, false),
  ]
}

function hunksOf(edits: readonly DiffLine[]): readonly string[] {
  const changed = edits.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  const spans: [from: number, to: number][] = []
  for (const at of changed) {
    const last = spans.at(-1)
    if (last && at - CONTEXT_LINES <= last[1] + CONTEXT_LINES) last[1] = at
    else spans.push([at, at])
  }
  return spans.map(([from, to]) =>
    formatHunk(edits, Math.max(0, from - CONTEXT_LINES), Math.min(edits.length, to + CONTEXT_LINES + 1)),
  )
}

function formatHunk(edits: readonly DiffLine[], from: number, to: number): string {
  const count = (part: readonly DiffLine[], other: DiffLine['mark']): number =>
    part.filter(({ mark }) => mark !== other).length
  const before = edits.slice(0, from)
  const part = edits.slice(from, to)
  const range = (other: DiffLine['mark']): string => {
    const length = count(part, other)
    return `${count(before, other) + (length > 0 ? 1 : 0)},${length}`
  }
  const lines = part.map(({ mark, line }) =>
    line.endsWith('\n') ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`,
  )
  return `@@ -${range('+')} +${range('-')} @@\n${lines.join('')}`
}

/** What changed from one text to another, as a unified diff. */

interface DiffLine {
  readonly mark: ' ' | '-' | '+'
  readonly line: string
}

const CONTEXT_LINES = 3
/** Beyond so many changed lines the shortest diff is not looked for. */
const MAX_DIFF_STEPS = 600

/** Empty when nothing changed. Null stands for a file that is not there. */
export function unifiedDiff(name: string, before: string | null, after: string | null): string {
  if (before === after) return ''
  const hunks = hunksOf(editsOf(linesOf(before ?? ''), linesOf(after ?? '')))
  const head = `--- ${before === null ? '/dev/null' : name}\n+++ ${after === null ? '/dev/null' : name}\n`
  return head + hunks.join('')
}

/** Each with its newline; a last line may lack one. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

function editsOf(old: readonly string[], now: readonly string[]): readonly DiffLine[] {
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const same = (line: string): DiffLine => ({ mark: ' ', line })
  return [
    ...old.slice(0, head).map(same),
    ...shortestEdits(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ]
}

/** Myers: for each number of steps, how far each diagonal gets; then the way back. */
function shortestEdits(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const trail: Map<number, number>[] = []
  let furthest = new Map<number, number>([[1, 0]])
  for (let steps = 0; steps <= Math.min(a.length + b.length, MAX_DIFF_STEPS); steps++) {
    trail.push(new Map(furthest))
    const next = new Map(furthest)
    for (let k = -steps; k <= steps; k += 2) {
      let x = goesDown(furthest, k, steps) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return backtrack(a, b, trail)
    }
    furthest = next
  }
  return [...a.map((line): DiffLine => ({ mark: '-', line })), ...b.map((line): DiffLine => ({ mark: '+', line }))]
}

const goesDown = (furthest: ReadonlyMap<number, number>, k: number, steps: number): boolean =>
  k === -steps || (k !== steps && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1))

function backtrack(
  a: readonly string[],
  b: readonly string[],
  trail: readonly Map<number, number>[],
): readonly DiffLine[] {
  const edits: DiffLine[] = []
  let x = a.length
  let y = b.length
  for (let steps = trail.length - 1; steps >= 0; steps--) {
    const furthest = trail[steps] ?? new Map<number, number>()
    const k = goesDown(furthest, x - y, steps) ? x - y + 1 : x - y - 1
    const fromX = furthest.get(k) ?? 0
    for (; x > fromX && y > fromX - k; y--) edits.push({ mark: ' ', line: a[--x] ?? '' })
    if (steps > 0) edits.push(x === fromX ? { mark: '+', line: b[y - 1] ?? '' } : { mark: '-', line: a[x - 1] ?? '' })
    x = fromX
    y = fromX - k
  }
  return edits.reverse()
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

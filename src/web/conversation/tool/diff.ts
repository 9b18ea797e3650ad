/** Parses unified diffs, and pairs their lines for two columns. */

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

export interface DiffFile {
  readonly path: string
  readonly lines: readonly DiffLine[]
  readonly added: number
  readonly removed: number
}

export interface DiffPair {
  readonly left?: DiffLine
  readonly right?: DiffLine
}

interface OpenFile {
  path: string
  lines: DiffLine[]
}

export function parseDiff(patch: string): readonly DiffFile[] {
  const files: OpenFile[] = []
  let before: number | undefined
  let after: number | undefined
  const lines = patch.replace(/\n$/, '').split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const file = files.at(-1)
    if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      files.push({ path: diffPath(line.slice(4), lines[at + 1]?.slice(4) ?? ''), lines: [] })
      before = after = undefined
      at++
    } else if (line.startsWith('@@')) {
      const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
      before = hunk ? Number(hunk[1]) : undefined
      after = hunk ? Number(hunk[2]) : undefined
      if (file && (file.lines.length > 0 || hunk)) file.lines.push({ kind: 'gap', text: line })
    } else if (!file || line.startsWith('*** ') || line.startsWith('\\ ')) continue
    else if (line.startsWith('+')) {
      file.lines.push(numberedLine('added', line.slice(1), undefined, after))
      if (after !== undefined) after++
    } else if (line.startsWith('-')) {
      file.lines.push(numberedLine('removed', line.slice(1), before, undefined))
      if (before !== undefined) before++
    } else {
      file.lines.push(numberedLine('same', line.slice(1), before, after))
      if (before !== undefined) before++
      if (after !== undefined) after++
    }
  }
  return files.map(({ path, lines: fileLines }) => ({
    path,
    lines: fileLines,
    added: fileLines.filter(({ kind }) => kind === 'added').length,
    removed: fileLines.filter(({ kind }) => kind === 'removed').length,
  }))
}

function numberedLine(kind: DiffLine['kind'], text: string, before?: number, after?: number): DiffLine {
  return { kind, text, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
}

/** The new name; the old one if the file was deleted. */
function diffPath(before: string, after: string): string {
  const chosen = after.trim() === '/dev/null' ? before : after
  return chosen.trim().replace(/^[ab]\//, '')
}

/** Puts removed lines beside the added ones. */
export function pairDiffLines(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      const [left, right] = [removed[at], added[at]]
      pairs.push({ ...(left && { left }), ...(right && { right }) })
    }
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') {
      if (added.length > 0) flush()
      removed.push(line)
    } else if (line.kind === 'added') added.push(line)
    else {
      flush()
      pairs.push({ left: line, right: line })
    }
  }
  flush()
  return pairs
}

export function countDiffLines(patch: string): { readonly added: number; readonly removed: number } {
  const files = parseDiff(patch)
  return {
    added: files.reduce((sum, file) => sum + file.added, 0),
    removed: files.reduce((sum, file) => sum + file.removed, 0),
  }
}

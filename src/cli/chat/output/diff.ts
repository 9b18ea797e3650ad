/** Changes of files, coloured and folded. */
import { toVisible } from '../../../model/hostile-characters.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'

export const colorDiffLine = (line: string): string => diffColor(line)(line)

/** The colour of a line, for each of its rows. */
export function diffColor(line: string): (row: string) => string {
  if (/^(?:---|\+\+\+|diff |index )/.test(line)) return paint.dim
  if (line.startsWith('@@')) return paint.cyan
  if (line.startsWith('+')) return paint.green
  return line.startsWith('-') ? paint.red : (row) => row
}

export interface FoldedDiff {
  readonly text: string
  /** How many lines are not shown. */
  readonly hiddenLines: number
}

const formatHiddenLines = (hidden: number): string => say(`    … ${hidden} more lines\n`, `    … ほか ${hidden} 行\n`)

/** @param maxLines lines, from the first one on */
export function renderDiff(diff: string, maxLines: number): FoldedDiff {
  const lines = diff === '' ? [] : diff.trimEnd().split('\n')
  const shown = lines.slice(0, maxLines).map((line) => `    ${colorDiffLine(toVisible(line))}\n`)
  const hidden = lines.length - shown.length
  return {
    text: shown.join('') + (hidden > 0 ? paint.dim(formatHiddenLines(hidden)) : ''),
    hiddenLines: Math.max(0, hidden),
  }
}

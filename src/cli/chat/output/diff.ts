/** Changes of files, coloured and folded. */
import { visible } from '../../../model/told/visible.ts'
import { say } from '../../language.ts'
import { paint } from '../../view/paint.ts'

export const diffLine = (line: string): string => shadeOf(line)(line)

/** The colour of a line, for each of its rows. */
export function shadeOf(line: string): (row: string) => string {
  if (/^(?:---|\+\+\+|diff |index )/.test(line)) return paint.dim
  if (line.startsWith('@@')) return paint.cyan
  if (line.startsWith('+')) return paint.green
  return line.startsWith('-') ? paint.red : (row) => row
}

export interface Folded {
  readonly text: string
  /** How many lines are not shown. */
  readonly left: number
}

const moreLines = (left: number): string => say(`    … ${left} more lines\n`, `    … ほか ${left} 行\n`)

/** @param most lines, from the first one on */
export function diffText(diff: string, most: number): Folded {
  const lines = diff === '' ? [] : diff.trimEnd().split('\n')
  const shown = lines.slice(0, most).map((line) => `    ${diffLine(visible(line))}\n`)
  const left = lines.length - shown.length
  return { text: shown.join('') + (left > 0 ? paint.dim(moreLines(left)) : ''), left: Math.max(0, left) }
}

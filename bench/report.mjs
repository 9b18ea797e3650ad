/** Writes the table of docs/benchmarks.md, and compares with the baseline. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cellsOf, shareOfTarget } from './targets.mjs'

const PAGE = join(import.meta.dirname, '..', 'docs', 'benchmarks.md')
const BASELINE = join(import.meta.dirname, 'baseline.json')
const HEAD = ['area', 'what', 'target', 'measured', 'floor', 'ratio', 'met', 'baseline']
/** An increase by this factor over the baseline counts as a regression. */
const TOLERANCE = 1.2

/** Ratios to the targets, by section and row. */
const baseline = existsSync(BASELINE) ? JSON.parse(readFileSync(BASELINE, 'utf8')) : {}
const nameOf = (section, row) => `${section}: ${row.what}`

/** @returns the ratio to the baseline, if there is one */
export function ratioToBaseline(section, row) {
  const before = baseline[nameOf(section, row)]
  return before ? shareOfTarget(row) / before : undefined
}

export const isWorse = (section, row) => (ratioToBaseline(section, row) ?? 0) > TOLERANCE

export function setBaseline(section, rows) {
  for (const row of rows) baseline[nameOf(section, row)] = Number(shareOfTarget(row).toPrecision(3))
  const sorted = Object.fromEntries(Object.entries(baseline).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(BASELINE, `${JSON.stringify(sorted, null, 2)}\n`)
}

/** Replaces the rows of one section and keeps the others. */
export function writeSection(section, note, rows) {
  const lines = rows.map((row) => line([section, ...cellsOf(row), drift(section, row)]))
  replace('table', (old) => [
    line(HEAD),
    line(HEAD.map(() => '---')),
    ...otherLines(old.slice(2), `| ${section} |`),
    ...lines,
  ])
  replace('notes', (old) => [...otherLines(old, `- *${section}*`), `- *${section}*: ${note}`])
}

export const line = (cells) => `| ${cells.join(' | ')} |`

export function drift(section, row) {
  const ratio = ratioToBaseline(section, row)
  if (ratio === undefined) return '–'
  const percent = Math.round((ratio - 1) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %${ratio > TOLERANCE ? ' ⚠' : ''}`
}

const otherLines = (lines, beginning) => lines.filter((one) => !one.startsWith(beginning))

function replace(name, change) {
  const old = readFileSync(PAGE, 'utf8')
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`]
  const from = old.indexOf(begin) + begin.length
  const to = old.indexOf(end)
  const lines = old.slice(from, to).split('\n').filter(Boolean)
  writeFileSync(
    PAGE,
    `${old.slice(0, from)}${change(lines)
      .map((one) => `${one}\n`)
      .join('')}${old.slice(to)}`,
  )
}

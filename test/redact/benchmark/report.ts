/** The benchmark's result as the tables of docs/redaction.md. */
import type { BenchmarkResult, KindResult } from './measure.ts'

export const recallOf = (kinds: readonly KindResult[]): number => sum(kinds, 'found') / sum(kinds, 'secrets')

const sum = (kinds: readonly KindResult[], field: 'found' | 'secrets'): number =>
  kinds.reduce((total, kind) => total + kind[field], 0)
const percent = (part: number): string => `${(100 * part).toFixed(1).replace(/\.0$/, '')} %`

export function renderTables({ kinds, lookAlikes, falsePositives }: BenchmarkResult): string {
  const documented = kinds.filter((kind) => kind.isDocumented)
  const contextual = kinds.filter((kind) => !kind.isDocumented)
  return [
    `${sum(kinds, 'secrets').toLocaleString('en')} secrets of ${kinds.length} kinds, and ${lookAlikes} look-alikes.`,
    '',
    '| | kinds | secrets | found | recall |',
    '|---|---:|---:|---:|---:|',
    totalRow('documented formats', documented),
    totalRow('given away by their context', contextual),
    '',
    `Look-alikes taken for secrets: ${falsePositives.length} of ${lookAlikes}.`,
    '',
    '## Documented formats',
    '',
    ...table(documented),
    '',
    '## Given away by their context',
    '',
    ...table(contextual),
  ].join('\n')
}

const totalRow = (name: string, kinds: readonly KindResult[]): string =>
  `| ${name} | ${kinds.length} | ${sum(kinds, 'secrets')} | ${sum(kinds, 'found')} | ${percent(recallOf(kinds))} |`

const table = (kinds: readonly KindResult[]): readonly string[] => [
  '| kind | secrets | found | recall | precision |',
  '|---|---:|---:|---:|---:|',
  ...kinds.map(
    ({ name, secrets, found, wrong }) =>
      `| ${name} | ${secrets} | ${found} | ${percent(found / secrets)} | ${found === 0 ? '–' : percent(found / (found + wrong))} |`,
  ),
]

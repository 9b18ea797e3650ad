/** Counts of a run by pair of formats. */
import type { Verdict } from './round-trip.ts'

interface Cell {
  trips: number
  exact: number
  compared: number
  identical: number
  files: number
  said: number
  reported: number
  checked: number
  sound: number
  own: number
  warnings: number
  readonly failures: string[]
}

const emptyCell = (): Cell => ({
  ...{ trips: 0, exact: 0, compared: 0, identical: 0, files: 0, said: 0, reported: 0 },
  ...{ checked: 0, sound: 0, own: 0, warnings: 0 },
  failures: [],
})

export class Matrix {
  readonly #cells = new Map<string, Cell>()

  add(
    from: string,
    to: string,
    name: string,
    { isExact, isIdentical, isSaid: isText, isReported, target }: Verdict,
  ): void {
    const key = `${from} → ${to}`
    const cell = this.#cells.get(key) ?? emptyCell()
    this.#cells.set(key, cell)
    cell.trips++
    if (isExact !== undefined) cell.compared++
    if (isExact) cell.exact++
    if (isIdentical !== undefined) cell.files++
    if (isIdentical) cell.identical++
    if (isText) cell.said++
    if (isReported) cell.reported++
    if (target) {
      cell.checked++
      if (target.errors.length === 0 && target.own.length === 0) cell.sound++
      if (target.own.length > 0) cell.own++
      cell.warnings += target.warnings
    }
    const refused = [...new Set(target?.errors)]
    const wrong = [
      isExact === false && 'not exact',
      isIdentical === false && 'not the same bytes',
      !isText && 'not the same words',
      !isReported && 'not reported',
      refused.length > 0 && `refused: ${refused.join(' ')}`,
    ]
    const found = wrong.filter((one) => one !== false)
    if (found.length > 0) cell.failures.push(`${key} ${name}: ${found.join(', ')}`)
  }

  get failures(): readonly string[] {
    return [...this.#cells.values()].flatMap(({ failures }) => failures)
  }

  table(): string {
    const rows = [...this.#cells]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([pair, one]) => {
        const back = one.compared === 0 ? '–' : `${one.exact} of ${one.compared}`
        const bytes = one.files === 0 ? '–' : `${one.identical} of ${one.files}`
        return `| ${pair} | ${one.trips} | ${back} | ${bytes} | ${one.said} | ${one.reported} | ${one.checked === 0 ? '– | – | –' : `${one.sound} of ${one.checked} | ${one.own} | ${one.warnings}`} |`
      })
    return [
      '| pair | conversations | round trip exact | same bytes | same content without extensions | losses reported | no errors | own records with errors | warnings |',
      '|---|--:|--:|--:|--:|--:|--:|--:|--:|',
      ...rows,
      '',
    ].join('\n')
  }
}

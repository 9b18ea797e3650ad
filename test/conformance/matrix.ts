/** Counts of a run, pair by pair. */
import type { Verdict } from './trip.ts'

interface Cell {
  trips: number
  exact: number
  compared: number
  said: number
  reported: number
  readonly failures: string[]
}

export class Matrix {
  readonly #cells = new Map<string, Cell>()

  add(from: string, to: string, name: string, { isExact, isSaid, isReported }: Verdict): void {
    const key = `${from} → ${to}`
    const cell = this.#cells.get(key) ?? { trips: 0, exact: 0, compared: 0, said: 0, reported: 0, failures: [] }
    this.#cells.set(key, cell)
    cell.trips++
    if (isExact !== undefined) cell.compared++
    if (isExact) cell.exact++
    if (isSaid) cell.said++
    if (isReported) cell.reported++
    const wrong = [isExact === false && 'not exact', !isSaid && 'not the same words', !isReported && 'not reported']
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
        return `| ${pair} | ${one.trips} | ${back} | ${one.said} | ${one.reported} |`
      })
    return [
      '| pair | conversations | back again, exact | without extensions, the same words and results | losses all reported |',
      '|---|--:|--:|--:|--:|',
      ...rows,
      '',
    ].join('\n')
  }
}

/** Numbers for the chart: what each line shows, and how lines stand on one another. */
import type { Series, SeriesLine } from '../../../model/api/stats.ts'
import type { StatisticsMeasure } from '../statistics-filter.ts'

export interface ChartLine {
  /** Null for all, or for the rest. */
  readonly name: string | null
  readonly isRest: boolean
  /** 1 to 9. */
  readonly tone: number
  /** One for each step; null where there is nothing to tell. */
  readonly values: readonly (number | null)[]
  /** Of all steps together. */
  readonly total: number | null
}

const REST_TONE = 9

export function chartLines({ lines }: Series, measure: StatisticsMeasure): readonly ChartLine[] {
  return lines.map((line, at) => ({
    name: line.name,
    isRest: line.rest,
    tone: line.rest ? REST_TONE : (at % (REST_TONE - 1)) + 1,
    values: valuesOf(line, measure),
    total: totalOf(line, measure),
  }))
}

function valuesOf(line: SeriesLine, measure: StatisticsMeasure): readonly (number | null)[] {
  switch (measure) {
    case 'tokens':
      return line.total_tokens
    case 'cost':
      return line.usd
    case 'cache':
      return line.input_tokens.map((input, at) => shareOf(line.cached_input_tokens[at] ?? 0, input))
  }
}

function totalOf(line: SeriesLine, measure: StatisticsMeasure): number | null {
  switch (measure) {
    case 'tokens':
      return sum(line.total_tokens)
    case 'cost':
      return sum(line.usd)
    case 'cache':
      return shareOf(sum(line.cached_input_tokens), sum(line.input_tokens))
  }
}

const shareOf = (part: number, total: number): number | null => (total > 0 ? part / total : null)
const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/** Each line on top of those before it, so that the last is the height of all. */
export function stackLines(lines: readonly (readonly (number | null)[])[]): readonly (readonly number[])[] {
  let base: readonly number[] = []
  return lines.map((values) => {
    base = values.map((value, at) => (base[at] ?? 0) + (value ?? 0))
    return base
  })
}

/** Numbers for the chart: what each line shows, and how lines stand on one another. */
import type { Series, SeriesLine } from '../../../model/api/stats.ts'
import type { Measure } from '../filter.ts'

export interface Line {
  /** Null for all, or for the rest. */
  readonly name: string | null
  readonly isRest: boolean
  /** 1 to 9. */
  readonly tone: number
  /** One for each step; null where there is nothing to tell. */
  readonly values: readonly (number | null)[]
  /** Of all steps together. */
  readonly whole: number | null
}

const REST = 9

export function linesOf({ lines }: Series, measure: Measure): readonly Line[] {
  return lines.map((line, at) => ({
    name: line.name,
    isRest: line.rest,
    tone: line.rest ? REST : (at % (REST - 1)) + 1,
    values: valuesOf(line, measure),
    whole: wholeOf(line, measure),
  }))
}

function valuesOf(line: SeriesLine, measure: Measure): readonly (number | null)[] {
  switch (measure) {
    case 'tokens':
      return line.total_tokens
    case 'cost':
      return line.usd
    case 'cache':
      return line.input_tokens.map((input, at) => share(line.cached_input_tokens[at] ?? 0, input))
  }
}

function wholeOf(line: SeriesLine, measure: Measure): number | null {
  switch (measure) {
    case 'tokens':
      return sum(line.total_tokens)
    case 'cost':
      return sum(line.usd)
    case 'cache':
      return share(sum(line.cached_input_tokens), sum(line.input_tokens))
  }
}

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)
const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)

/** Each line on top of those before it, so that the last is the height of all. */
export function stacked(lines: readonly (readonly (number | null)[])[]): readonly (readonly number[])[] {
  let below: readonly number[] = []
  return lines.map((values) => {
    below = values.map((value, at) => (below[at] ?? 0) + (value ?? 0))
    return below
  })
}

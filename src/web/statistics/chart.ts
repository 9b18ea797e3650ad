/** The chart over time: the values of each line, how lines are stacked, and how uPlot draws them. */
import type uPlot from 'uplot'
import type { Series, SeriesLine } from '../../model/api/stats.ts'
import type { StatisticsMeasure } from './statistics-filter.ts'

export interface ChartLine {
  /** Null for all, or for all others. */
  readonly name: string | null
  readonly isRest: boolean
  /** 1 to 9. */
  readonly tone: number
  /** One per step; null without data. */
  readonly values: readonly (number | null)[]
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

/** Adds each line to those before it. */
export function stackLines(lines: readonly (readonly (number | null)[])[]): readonly (readonly number[])[] {
  let base: readonly number[] = []
  return lines.map((values) => {
    base = values.map((value, at) => (base[at] ?? 0) + (value ?? 0))
    return base
  })
}

export interface ChartColours {
  readonly tones: readonly string[]
  readonly ink: string
  readonly hair: string
}

interface ChartInput {
  readonly lines: readonly ChartLine[]
  readonly names: readonly string[]
  readonly isStacked: boolean
  readonly format: (value: number) => string
  readonly bars: uPlot.Series.PathBuilder | undefined
  readonly colours: ChartColours
  readonly width: number
  readonly height: number
}

const FONT = '12px system-ui, sans-serif'
/** Possible distances between labels of the axis. */
const AXIS_INCREMENTS = [1, 2, 3, 5, 7, 10, 14, 20, 30, 60, 90, 180, 365]

export function chartOptions(drawing: ChartInput): uPlot.Options {
  const { lines, names, isStacked, format, bars, colours, width, height } = drawing
  const axis = { stroke: colours.ink, font: FONT, ticks: { show: false } }
  const tones = lines.map(({ tone }) => colours.tones[tone - 1] ?? colours.ink)
  return {
    width,
    height,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { show: !isStacked, size: 7 } },
    scales: {
      x: { time: false, range: () => [-0.6, Math.max(0.6, names.length - 0.4)] },
      y: { range: (_, __, highest) => [0, isStacked ? Math.max(highest ?? 0, 1e-6) * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        incrs: AXIS_INCREMENTS,
        space: 64,
        size: 32,
        values: (_, positions) =>
          positions.map((position) => (Number.isInteger(position) ? (names[position] ?? '') : '')),
      },
      {
        ...axis,
        grid: { stroke: colours.hair, width: 1 },
        size: 52,
        space: 44,
        values: (_, values) => values.map((value) => (value === 0 ? '0' : format(value))),
      },
    ],
    // The lowest area is drawn last, over the others.
    series: [
      {},
      ...(isStacked
        ? tones.toReversed().map((tone) => ({
            fill: tone,
            stroke: tone,
            width: 0,
            points: { show: false },
            ...(bars && { paths: bars }),
          }))
        : tones.map((tone) => ({ stroke: tone, width: 1.5, spanGaps: true, points: { size: 5, fill: tone } }))),
    ],
  }
}

export function chartData(lines: readonly ChartLine[], isStacked: boolean): uPlot.AlignedData {
  const positions = lines[0]?.values.map((_, at) => at) ?? []
  const values = lines.map((line) => line.values)
  const series = isStacked ? stackLines(values).toReversed() : values
  return [positions, ...series.map((line) => [...line])]
}

/** How the chart is drawn: its axes, and one series for each line. */
import type uPlot from 'uplot'
import { type ChartLine, stackLines } from './chart-lines.ts'

export interface ChartColours {
  /** Of the tones 1 to 9. */
  readonly tones: readonly string[]
  readonly ink: string
  readonly hair: string
  readonly paper: string
}

interface ChartInput {
  readonly lines: readonly ChartLine[]
  readonly names: readonly string[]
  readonly isStacked: boolean
  readonly format: (value: number) => string
  /** Draws bars where lines are stacked. */
  readonly bars: uPlot.Series.PathBuilder | undefined
  readonly colours: ChartColours
  readonly width: number
  readonly height: number
}

const FONT = '12px system-ui, sans-serif'
/** Steps between two names on the axis. */
const AXIS_INCREMENTS = [1, 2, 3, 5, 7, 10, 14, 20, 30, 60, 90, 180, 365]

export function chartOptions(drawing: ChartInput): uPlot.Options {
  const { lines, names, isStacked, format, bars, colours, width, height } = drawing
  const axis = { stroke: colours.ink, font: FONT, ticks: { show: false } }
  const tones = lines.map(({ tone }) => colours.tones[tone - 1] ?? colours.ink)
  return {
    width,
    height,
    padding: [8, 4, 0, 0],
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
    // What stands lowest is drawn last, over those that it is part of.
    series: [
      {},
      ...(isStacked
        ? tones.toReversed().map((tone) => ({
            fill: tone,
            stroke: colours.paper,
            width: 0.5,
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

/** `fumi stats`: sessions, messages, tools and exact token totals, straight from the logs. */
import { type Command, Option } from 'commander'
import { type HistorySummary, statisticsOf } from '../../amazon-q.ts'
import { describeConfigProblem } from '../../config.ts'
import { AppError } from '../../model/error.ts'
import { estimatedTokens } from '../../model/tokens/estimate.ts'
import type { PriceList } from '../../model/tokens/prices.ts'
import { localDay, type Totals, utcDay } from '../../model/totals.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { logsFor, logsOfMachine } from '../logs.ts'
import { writeErr, writeOut } from '../output.ts'
import { progressOver } from '../progress.ts'
import { totalsOf } from '../totals.ts'
import type { By } from '../view/stats-report.ts'

interface Options {
  readonly by?: By
  readonly json?: boolean
  readonly utc?: boolean
}

export function statsCommand(program: Command): void {
  program
    .command('stats')
    .summary('count sessions, messages, tools, exact tokens and what they cost')
    .argument('[path...]', 'log files or folders, - for standard input (default: every agent found on this machine)')
    .addOption(
      new Option('--by <what>', 'one row for each').choices(['model', 'day', 'project', 'session']).default('model'),
    )
    .option('--json', 'print JSON')
    .option('--utc', 'days in UTC instead of local time')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi stats\n  fumi stats --by day ~/.codex\n  fumi stats rollout.jsonl --json',
    )
    .action(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const house = await openHouse()
  const { list: prices, problems } = await house.prices()
  for (const problem of problems) await writeErr(`fumi: ${describeConfigProblem(problem)}\n`)
  const inputs = paths.length > 0 ? await logsFor(paths) : { logs: await logsOfMachine(house), release: async () => {} }
  const progress = await progressOver(inputs.logs)
  try {
    const measures = { dayOf: options.utc ? utcDay : localDay(), prices }
    const { totals, histories, issues } = await totalsOf(inputs.logs, measures, progress)
    progress.stop()
    await tellIssues(issues)
    if (totals.sessions === 0) throw nothing(paths)
    await writeOut(
      options.json
        ? `${JSON.stringify({ ...jsonOf(totals, options.by, prices), ...patternsOf(histories) })}\n`
        : `${await reportOf(totals, options.by, prices)}${await patternText(histories)}`,
    )
  } finally {
    progress.stop()
    await inputs.release()
    house.close()
  }
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? `no session in ${paths.join(', ')}. Give a log of a known agent, or a folder that holds some.`
      : 'no agent was found on this machine. Give a path: fumi stats <folder>.',
  )

/** The tables by project and by session may name private paths: only when asked for. */
function jsonOf(totals: Totals, by: By | undefined, prices: PriceList): object {
  const { sessions, lines, messages, tools, usage } = totals
  const tables = <T>({ by_model, by_day, by_project, by_session }: Tables<T>): object => ({
    by_model,
    by_day,
    ...(by === 'project' && { by_project }),
    ...(by === 'session' && { by_session }),
  })
  const cost = { ...totals.cost.all, as_of: prices.as_of, ...tables(totals.cost) }
  return { sessions, lines, messages, usage, ...tables(totals), cost, tools, ...estimateOf(totals) }
}

/** Only where there is one, and never beside numbers that were counted. */
const estimateOf = ({ estimate, estimated_sessions: sessions }: Totals): object =>
  sessions === 0 ? {} : { estimate: { sessions, ...estimatedTokens(estimate) } }

type Tables<T> = { readonly [By in 'by_model' | 'by_day' | 'by_project' | 'by_session']: Record<string, T> }

/** Only where there are such conversations. */
const patternsOf = (histories: readonly HistorySummary[]): object =>
  histories.length === 0 ? {} : { patterns: statisticsOf(histories) }

async function patternText(histories: readonly HistorySummary[]): Promise<string> {
  return histories.length === 0 ? '' : (await import('../view/pattern-report.ts')).patternShares(histories)
}

/** Loaded for people only: measuring the width of letters takes a large table. */
async function reportOf(totals: Totals, by: By | undefined, prices: PriceList): Promise<string> {
  const { report } = await import('../view/stats-report.ts')
  return report(totals, by ?? 'model', prices.as_of)
}

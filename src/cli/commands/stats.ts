/** `fumi stats`: sessions, messages, tools and exact token totals. */
import { type Command, Option } from 'commander'
import { statisticsOf } from '../../amazon-q.ts'
import type { House, SessionFilter, Stats } from '../../app.ts'
import { describeConfigProblem } from '../../config.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { estimatedTokens } from '../../model/tokens/estimate.ts'
import type { PriceList } from '../../model/tokens/prices.ts'
import { localDay, noTotals, type Totals, utcDay } from '../../model/totals.ts'
import { cacheShare } from '../../model/usage.ts'
import { type FilterOptions, filterOf, isFiltered, withFilters } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { openHouse } from '../house.ts'
import { mayBeMissing, tellIncomplete } from '../incomplete.ts'
import { tellIssues } from '../issues.ts'
import { inWords, say } from '../language.ts'
import { logsFor, logsOfMachine } from '../logs/logs.ts'
import { type Sum, totalsOf } from '../logs/totals.ts'
import { writeErr, writeJson, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
import { progressOver } from '../progress.ts'
import { examples } from '../run/examples.ts'

const BY = ['model', 'day', 'agent', 'project', 'session', 'tool', 'hour', 'weekday'] as const
type By = (typeof BY)[number]

interface Options extends FilterOptions {
  readonly by?: By
  readonly json?: boolean
  readonly utc?: boolean
}

export function statsCommand(program: Command): void {
  withFilters(
    program
      .command('stats')
      .summary(
        say(
          'count sessions, messages, tools, exact tokens and what they cost',
          '会話・メッセージ・ツール・正確なトークン数・費用を集計',
        ),
      )
      .argument(
        '[path...]',
        say(
          'log files or folders, - for standard input (default: every agent found on this machine)',
          'ログファイルまたはフォルダー。- は標準入力（既定: このマシンのすべてのエージェント）',
        ),
      ),
  )
    .addOption(new Option('--by <what>', say('one row for each', '集計の単位')).choices(BY).default('model'))
    .option('--json', say('print JSON', 'JSON で出力'))
    .option('--utc', say('days and hours in UTC instead of local time', '日付と時刻を現地時間ではなく UTC で'))
    .addHelpText(
      'after',
      examples(
        'fumi stats',
        'fumi stats --by day --since 30d',
        'fumi stats --by tool --project .',
        'fumi stats --by day ~/.codex',
        'fumi stats rollout.jsonl --json',
      ),
    )
    .action(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const house = await openHouse()
  try {
    const { list: prices, problems } = await house.prices()
    for (const problem of problems) await writeErr(`fumi: ${inWords(describeConfigProblem(problem))}\n`)
    const filter = filterOf(options)
    const isIndexed = paths.length === 0 && (await freshen(house, needsBoth(options) ? 'both' : 'first'))
    if (!isIndexed && (isFiltered(options) || needsBoth(options)))
      throw new AppError(
        'bad_usage',
        'what lies at a path is counted as it is: no filter, and not by tool, hour or weekday.',
        'パスを指定した集計では、絞り込みと --by tool、hour、weekday は使えません。',
      )
    const sum = isIndexed ? await fromIndex(house, filter, options) : await fromLogs(house, paths, prices, options)
    await tellIssues(sum.issues)
    if (sum.totals.sessions === 0 && !isFiltered(options)) throw mayBeMissing(sum.issues) ?? nothing(paths)
    if (!options.json) await openPager()
    if (options.json) await writeJson(jsonOf(sum, options, prices))
    else await writeOut(await reportOf(sum, options, prices))
    await tellIncomplete(sum.issues)
  } finally {
    house.close()
  }
}

/** Tools with their outcome, and what was done when, are known after the second pass. */
const needsBoth = ({ by }: Options): boolean => by === 'tool' || by === 'hour' || by === 'weekday'

interface Counted extends Sum {
  /** What the index knows beside the sums. */
  readonly stats?: Stats
}

async function fromIndex(house: House, filter: SessionFilter, options: Options): Promise<Counted> {
  const totals = (await house.totals(filter, options.utc ? utcDay : localDay())) ?? noTotals()
  const stats = house.stats({ ...filter, ...(options.utc && { utc: true }) })
  return {
    totals,
    histories: house.histories(filter),
    issues: house.index.unreadable(options.agent),
    ...(stats && { stats }),
  }
}

async function fromLogs(house: House, paths: readonly string[], prices: PriceList, options: Options): Promise<Counted> {
  const inputs = paths.length > 0 ? await logsFor(paths) : { logs: await logsOfMachine(house), release: async () => {} }
  const progress = await progressOver(inputs.logs)
  try {
    return await totalsOf(inputs.logs, { dayOf: options.utc ? utcDay : localDay(), prices }, progress)
  } finally {
    progress.stop()
    await inputs.release()
  }
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `no session in ${paths.join(', ')}. Give a log of a known agent, or a folder that holds some.`,
          `${paths.join('、')} に会話がありません。対応するエージェントのログか、それを含むフォルダーを指定してください。`,
        )
      : phrase(
          'no agent was found on this machine. Give a path: fumi stats <folder>.',
          'このマシンにエージェントが見つかりません。パスを指定してください: fumi stats <フォルダー>',
        ),
  )

/** The tables by project and by session may name private paths: only when asked for. */
function jsonOf({ totals, histories, stats }: Counted, { by }: Options, prices: PriceList): object {
  const { sessions, lines, messages, tools, usage } = totals
  const tables = <T>({ by_model, by_day, by_agent, by_project, by_session }: Tables<T>): object => ({
    by_model,
    by_day,
    by_agent,
    ...(by === 'project' && { by_project }),
    ...(by === 'session' && { by_session }),
  })
  const cost = { ...totals.cost.all, as_of: prices.as_of, ...tables(totals.cost) }
  const counts = { sessions, lines, messages, usage, cache_share: cacheShare(usage) }
  return {
    ...counts,
    ...tables(totals),
    cost,
    tools,
    ...estimateOf(totals),
    ...(histories.length > 0 && { patterns: statisticsOf(histories) }),
    ...(stats && indexJson(stats)),
  }
}

const indexJson = ({ tools, by_hour, by_weekday, longest, disk, unread }: Stats): object => ({
  tool_calls: tools,
  by_hour,
  by_weekday,
  longest,
  disk,
  unread,
})

/** Only where there is one, and never beside numbers that were counted. */
const estimateOf = ({ estimate, estimated_sessions: sessions }: Totals): object =>
  sessions === 0 ? {} : { estimate: { sessions, ...estimatedTokens(estimate) } }

type Tables<T> = {
  readonly [By in 'by_model' | 'by_day' | 'by_agent' | 'by_project' | 'by_session']: Record<string, T>
}

/** Loaded for people only: measuring the width of letters takes a large table. */
async function reportOf(
  { totals, histories, stats }: Counted,
  { by = 'model' }: Options,
  prices: PriceList,
): Promise<string> {
  const { report } = await import('../view/stats/token-report.ts')
  const { activityReport, moreReport, toolReport } = await import('../view/stats/index-report.ts')
  const patterns =
    histories.length === 0 ? '' : (await import('../view/stats/pattern-report.ts')).patternShares(histories)
  if (stats && by === 'tool') return toolReport(stats)
  if (stats && (by === 'hour' || by === 'weekday')) return activityReport(stats, by)
  const table = by === 'tool' || by === 'hour' || by === 'weekday' ? 'model' : by
  return `${report(totals, table, prices.as_of)}${stats ? moreReport(stats) : ''}${patterns}`
}

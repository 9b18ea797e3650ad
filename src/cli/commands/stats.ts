/** `fumi stats`: sessions, messages, tools and exact token totals. */
import { type Command, InvalidArgumentError } from 'commander'
import { type HistorySummary, statisticsOf } from '../../amazon-q.ts'
import type { App, IndexStatistics, SessionFilter } from '../../app.ts'
import { describeConfigProblem } from '../../config/config.ts'
import { AppError } from '../../model/error.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { phrase } from '../../model/phrase.ts'
import type { PriceList } from '../../model/prices.ts'
import { toEstimatedTokens } from '../../model/token-estimate.ts'
import { createLocalDay, emptyTotals, type Totals, toUtcDay } from '../../model/totals.ts'
import { cacheShareOf } from '../../model/usage.ts'
import {
  groupUsage,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageGroup,
  type UsageRecord,
} from '../../model/usage-groups.ts'
import { countTotals, type LogTotals } from '../count-totals.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { findAllLogs, findLogsAt } from '../find-logs.ts'
import { checkFilterOptions } from '../index-queries/check-filters.ts'
import { addFilterOptions, type FilterOptions, hasSessionFilters, toSessionFilter } from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { localize, say } from '../language.ts'
import { writeErr } from '../output.ts'
import { printReport } from '../pager.ts'
import { createLogProgress } from '../progress.ts'
import { incompleteError, printIssues, reportIncomplete } from '../report-issues.ts'

const INDEX_GROUPINGS = ['tool', 'hour', 'weekday'] as const
type IndexGrouping = (typeof INDEX_GROUPINGS)[number]
type Grouping = UsageDimension | IndexGrouping
const GROUPINGS: readonly Grouping[] = [...USAGE_DIMENSIONS, ...INDEX_GROUPINGS]

interface Options extends FilterOptions {
  /** One or two; tools and hours of the day stand alone. */
  readonly by: readonly Grouping[]
  readonly json?: boolean
  readonly utc?: boolean
}

export function statsCommand(program: Command): void {
  defineCommand(
    program,
    'stats',
    'count sessions, messages, tool calls, tokens and cost',
    '会話・メッセージ・ツール呼び出し・トークン・費用を集計',
  )
    .argument(
      '[path...]',
      'log files or folders to count; - reads standard input (default: all agents on this machine)',
      'ログファイルまたはフォルダー。- は標準入力（既定: このマシンのすべてのエージェント）',
    )
    .group('Filters', '絞り込み')
    .with(addFilterOptions)
    .group('Output', '出力')
    .option(
      '--by <what>',
      `group rows by one or two of ${USAGE_DIMENSIONS.join(', ')}, or by ${INDEX_GROUPINGS.join(', ')} (default: model)`,
      `集計の単位。${USAGE_DIMENSIONS.join('、')} から 1 つか 2 つ、または ${INDEX_GROUPINGS.join('、')}（既定: model）`,
      { parse: parseGroupings },
    )
    .option(...JSON_OPTION)
    .option('--utc', 'use UTC days and hours instead of local time', '日付と時刻を、現地時間ではなく UTC で集計')
    .examples(
      'fumi stats',
      'fumi stats --by day --since 30d',
      'fumi stats --by week,model',
      'fumi stats --by block --since 7d',
      'fumi stats --by tool --project .',
      'fumi stats --by day ~/.codex',
      'fumi stats rollout.jsonl --json',
    )
    .runWithApp(printStatistics)
}

function parseGroupings(text: string): readonly Grouping[] {
  const found = text.split(',').map((word) => word.trim())
  for (const word of found)
    if (!GROUPINGS.some((one) => one === word)) {
      const nearest = nearestName(word, GROUPINGS)
      throw new InvalidArgumentError(
        say(
          `Unknown "${word}".${nearest === undefined ? '' : ` Did you mean ${nearest}?`} Available: ${GROUPINGS.join(', ')}.`,
          `「${word}」はありません。${nearest === undefined ? '' : `${nearest} のことですか？ `}使えるのは ${GROUPINGS.join('、')} です。`,
        ),
      )
    }
  const isSingle = found.some((word) => INDEX_GROUPINGS.some((one) => one === word))
  if (found.length > (isSingle ? 1 : 2) || new Set(found).size < found.length)
    throw new InvalidArgumentError(
      say(
        `Use one or two different ones; ${INDEX_GROUPINGS.join(', ')} only alone.`,
        `異なるものを 1 つか 2 つ指定してください。${INDEX_GROUPINGS.join('、')} は単独でだけ使えます。`,
      ),
    )
  return found as readonly Grouping[]
}

async function printStatistics(app: App, paths: readonly string[], given: Partial<Options>): Promise<void> {
  const options: Options = { ...given, by: given.by ?? ['model'] }
  const { list: prices, problems } = await app.prices()
  for (const problem of problems) await writeErr(`fumi: ${localize(describeConfigProblem(problem))}\n`)
  const filter = toSessionFilter(options)
  const isIndexed = paths.length === 0 && (await refreshIndex(app, needsFullRead(options) ? 'both' : 'first'))
  if (!isIndexed && (hasSessionFilters(options) || needsFullRead(options)))
    throw new AppError(
      'bad_usage',
      'With a path, filters and --by tool, hour or weekday do not work. Omit the path to use them.',
      'パスを指定した集計では、絞り込みと --by tool、hour、weekday は使えません。使うにはパスを省いてください。',
    )
  if (isIndexed) await checkFilterOptions(app, options)
  const sum = isIndexed ? await countFromIndex(app, filter, options) : await countFromLogs(app, paths, prices, options)
  await printIssues(sum.issues)
  if (sum.totals.sessions === 0 && !hasSessionFilters(options)) {
    const error = incompleteError(sum.issues) ?? noSessionsError(paths)
    if (!options.json || paths.length > 0 || error.code !== 'nothing_readable') throw error
    await writeErr(`fumi: ${localize(error.phrase)}\n`)
  } else if (sum.totals.sessions === 0)
    await writeErr(`fumi: ${say('No sessions match these filters.', '条件に合う会話がありません。')}\n`)
  await printReport(
    options.json,
    () => toStatsJson(sum, options, prices),
    () => renderStats(sum, options, prices),
  )
  await reportIncomplete(sum.issues)
}

/** The second pass finds the outcomes of tools and the times of activity. */
const needsFullRead = ({ by }: Options): boolean => by.some((one) => INDEX_GROUPINGS.some((alone) => alone === one))

/** The totals hold these groups already. */
const TOTALED: readonly Grouping[] = ['model', 'day', 'agent', 'project', 'session']

const needsGroups = (options: Options): boolean =>
  !needsFullRead(options) && (options.by.length > 1 || options.by.some((one) => !TOTALED.includes(one)))

interface StatsTotals extends LogTotals {
  /** Set when the totals come from the index. */
  readonly stats?: IndexStatistics
}

async function countFromIndex(app: App, filter: SessionFilter, options: Options): Promise<StatsTotals> {
  const totals = (await app.totals(filter, options.utc ? toUtcDay : createLocalDay())) ?? emptyTotals()
  const stats = app.stats({ ...filter, ...(options.utc && { utc: true }) })
  return {
    totals,
    histories: app.histories(filter),
    records: needsGroups(options) ? app.index.usageRecords(filter) : [],
    issues: app.index.unreadable(options.agent),
    ...(stats && { stats }),
  }
}

async function countFromLogs(
  app: App,
  paths: readonly string[],
  prices: PriceList,
  options: Options,
): Promise<StatsTotals> {
  const logs = paths.length > 0 ? await findLogsAt(paths) : await findAllLogs(app)
  const progress = await createLogProgress(logs.map(({ source }) => source))
  try {
    return await countTotals(logs, { utc: options.utc === true, prices }, progress)
  } finally {
    progress.stop()
  }
}

const noSessionsError = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `No sessions in ${paths.join(', ')}. Specify a log of a supported agent, or a folder that contains logs.`,
          `${paths.join('、')} に会話がありません。対応するエージェントのログか、それを含むフォルダーを指定してください。`,
        )
      : phrase(
          'No agents found on this machine. Run fumi doctor to see where fumi looked, or specify a path: fumi stats <folder>.',
          'このマシンにエージェントが見つかりません。調べた場所は fumi doctor で分かります。パスも指定できます: fumi stats <フォルダー>',
        ),
  )

/** Tables by project and by session may name private paths, so they need `--by`. */
function toStatsJson({ totals, histories, stats, records }: StatsTotals, options: Options, prices: PriceList): object {
  const { by } = options
  const { sessions, lines, messages, tools, usage } = totals
  const tables = <T>({ by_model, by_day, by_agent, by_project, by_session }: GroupedTables<T>): object => ({
    by_model,
    by_day,
    by_agent,
    ...(by.includes('project') && { by_project }),
    ...(by.includes('session') && { by_session }),
  })
  const cost = prices.plan ? null : { ...totals.cost.all, as_of: prices.as_of, ...tables(totals.cost) }
  const counts = { sessions, lines, messages, usage, cache_share: cacheShareOf(usage) }
  return {
    ...counts,
    ...tables(totals),
    ...(needsGroups(options) && { groups: toGroupsJson(records, options, prices) }),
    cost,
    tools,
    ...toEstimateJson(totals),
    ...(histories.length > 0 && { patterns: toPatternsJson(histories) }),
    ...(stats && toIndexJson(stats)),
  }
}

/** One object per group: its names, tokens and cost. */
const toGroupsJson = (records: readonly UsageRecord[], options: Options, prices: PriceList): readonly object[] =>
  groupsOf(records, options, prices).map(({ names, usage, cost }) => ({
    ...Object.fromEntries(options.by.map((dimension, at) => [dimension, names[at]])),
    usage,
    cost: prices.plan ? null : cost,
  }))

const groupsOf = (records: readonly UsageRecord[], { by, utc }: Options, prices: PriceList): readonly UsageGroup[] =>
  groupUsage(records, by as readonly UsageDimension[], { dayOf: utc ? toUtcDay : createLocalDay(), prices })

function toPatternsJson(histories: readonly HistorySummary[]): object {
  const { toolUses, ...patterns } = statisticsOf(histories)
  const { total, max, perTurn: per_turn, byName: by_name } = toolUses
  return { ...patterns, tool_uses: { total, max, per_turn, by_name } }
}

const toIndexJson = ({ tools, by_hour, by_weekday, longest, disk, unread }: IndexStatistics): object => ({
  tool_calls: tools,
  by_hour,
  by_weekday,
  longest,
  disk,
  unread,
})

/** Estimates are never mixed with counted tokens. */
const toEstimateJson = ({ estimate, estimated_sessions: sessions }: Totals): object =>
  sessions === 0 ? {} : { estimate: { sessions, ...toEstimatedTokens(estimate) } }

type GroupedTables<T> = {
  readonly [By in 'by_model' | 'by_day' | 'by_agent' | 'by_project' | 'by_session']: Record<string, T>
}

/** Loaded only when text is printed: the table of character widths takes 25 ms to load. */
async function renderStats(
  { totals, histories, stats, records }: StatsTotals,
  options: Options,
  prices: PriceList,
): Promise<string> {
  const view = await import('../view/stats-report.ts')
  const [single = 'model'] = options.by
  if (stats && single === 'tool') return view.renderToolReport(stats)
  if (stats && (single === 'hour' || single === 'weekday')) return view.renderActivityReport(stats, single)
  const by = options.by as readonly UsageDimension[]
  const groups = needsGroups(options)
    ? groupsOf(records, options, prices)
    : view.groupsOfTotals(totals, single as Parameters<typeof view.groupsOfTotals>[1])
  const patterns = histories.length === 0 ? '' : view.renderPatternShares(histories)
  return `${view.renderTokenReport(totals, by, groups, prices)}${stats ? view.renderIndexSummary(stats) : ''}${patterns}`
}

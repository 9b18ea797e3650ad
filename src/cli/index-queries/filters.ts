/** Filter options of lists, searches and reports. A search turns them into words of its query. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Period, parsePeriod, type SessionFilter } from '../../app.ts'
import type { FilterQuery } from '../../model/api/envelope.ts'
import { AppError } from '../../model/error.ts'
import type { Instant } from '../../model/ids.ts'
import { say } from '../language.ts'

export type FilterOptions = FilterQuery

export const AGENT_OPTION_HELP = say(
  'filter by agent: codex, amazon-q, kiro …',
  'エージェントで絞り込む: codex、amazon-q、kiro など',
)

export const addPeriodOptions = (command: Command): Command =>
  command
    .option(
      '--since <when>',
      say(
        'on or after: 2026-11-15, today, 7d, 2026-11-15T09:30',
        'この日時以降: 2026-11-15、today、7d、2026-11-15T09:30',
      ),
    )
    .option('--until <when>', say('until the end of this day', 'この日の終わりまで'))

export const addFilterOptions = (command: Command): Command =>
  addPeriodOptions(
    command
      .option('--agent <id>', AGENT_OPTION_HELP)
      .option(
        '--project <directory>',
        say(
          'filter by directory, including those below it, or by directory name',
          'ディレクトリー（その下も含む）、またはディレクトリー名で絞り込む',
        ),
      )
      .option('--model <name>', say('filter by model; * matches anything', 'モデルで絞り込む。* は任意の文字列'))
      .option('--tool <name>', say('filter by tool', 'ツールで絞り込む')),
  )

export const hasSessionFilters = (options: FilterOptions): boolean =>
  [options.agent, options.project, options.model, options.tool, options.since, options.until].some(
    (one) => one !== undefined,
  )

export function toSessionFilter({ agent, project, model, tool, since, until }: FilterOptions): SessionFilter {
  const period = parsePeriodOptions({ since, until })
  return {
    ...(agent !== undefined && { agents: [agent] }),
    ...(project !== undefined && { project: resolveProject(project) }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { tool }),
    ...(period.from !== undefined && { since: Date.parse(period.from) }),
    ...(period.until !== undefined && { until: Date.parse(period.until) }),
  }
}

/** Throws if the period is empty. */
function parsePeriodOptions({
  since,
  until,
}: {
  readonly since: string | undefined
  readonly until: string | undefined
}): {
  readonly from: Instant | undefined
  readonly until: Instant | undefined
} {
  const from = since === undefined ? undefined : parsePeriodOption('--since', since).from
  const end = until === undefined ? undefined : parsePeriodOption('--until', until).until
  if (from !== undefined && end !== undefined && from >= end)
    throw new AppError(
      'bad_usage',
      `--since ${since} is after --until ${until}, so nothing can match. Swap them.`,
      `--since ${since} は --until ${until} より後なので、何も一致しません。入れ替えてください。`,
    )
  return { from, until: end }
}

export function parsePeriodOption(option: string, text: string): Period {
  const period = parsePeriod(text, new Date())
  if (!period)
    throw new AppError(
      'bad_usage',
      `Invalid date for ${option}. Use 2026-11-15, today, 7d or 12h.`,
      `${option} には 2026-11-15、today、7d、12h のように日付か時刻を指定してください。`,
    )
  return period
}

/** `.`, `..` and anything with a slash is a directory; any other name matches part of a path. */
export const resolveProject = (text: string): string => (/^\.{1,2}$|[/\\]/.test(text) ? resolve(text) : text)

export function parseLimit(text: string | undefined, defaultLimit: number): number {
  const limit = text === undefined ? defaultLimit : Number(text)
  if (!Number.isInteger(limit) || limit < 0)
    throw new AppError(
      'bad_usage',
      '--limit must be a whole number; 0 means all.',
      '--limit には 0 以上の整数を指定してください。0 は全件です。',
    )
  return limit
}

export interface QueryOptions extends FilterOptions {
  readonly scope?: string
  readonly role?: string
}

export const addQueryOptions = (command: Command): Command =>
  addPeriodOptions(
    command
      .option(
        '--scope <where>',
        say(
          'search only in: prompts, answers, arguments, output, reasoning, files, titles',
          '探す場所: prompts、answers、arguments、output、reasoning、files、titles',
        ),
      )
      .option('--role <role>', say('filter by role: user, assistant, tool', '発言者で絞り込む: user、assistant、tool'))
      .option('--agent <id>', AGENT_OPTION_HELP)
      .option('--project <directory>', say('filter by directory', 'ディレクトリーで絞り込む'))
      .option('--model <name>', say('filter by model', 'モデルで絞り込む'))
      .option(
        '--tool <name>',
        say('search only calls of this tool and their results', 'このツールの呼び出しと結果だけ'),
      ),
  )

export function buildQueryText(words: readonly string[], options: QueryOptions): string {
  const { scope, role, agent, project, model, tool, since, until } = options
  const period = parsePeriodOptions({ since, until })
  const parts = [
    ...words,
    formatFilter('--scope', 'in', scope),
    formatFilter('--role', 'role', role),
    formatFilter('--agent', 'agent', agent),
    formatFilter('--project', 'project', project === undefined ? undefined : resolveProject(project)),
    formatFilter('--model', 'model', model),
    formatFilter('--tool', 'tool', tool),
    formatFilter('--since', 'after', period.from),
    formatFilter('--until', 'before', period.until),
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function formatFilter(option: string, name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (value.includes('"'))
    throw new AppError(
      'bad_usage',
      `Quotation marks are not allowed in ${option}. Remove them.`,
      `${option} の値に引用符は使えません。取り除いてください。`,
    )
  return `${name}:"${value}"`
}

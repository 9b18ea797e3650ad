/** The options by which lists, searches and reports are filtered; a search takes them as words of its query. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Period, parsePeriod, type SessionFilter } from '../../app.ts'
import type { FilterQuery } from '../../model/api/envelope.ts'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'

export type FilterOptions = FilterQuery

export const AGENT_OPTION_HELP = say(
  'only of one agent: codex, amazon-q, kiro …',
  'このエージェントだけ: codex、amazon-q、kiro など',
)

export const addPeriodOptions = (command: Command): Command =>
  command
    .option(
      '--since <when>',
      say(
        'only from this day on: 2026-11-15, today, 7d, 2026-11-15T09:30',
        'この日以降だけ: 2026-11-15、today、7d、2026-11-15T09:30',
      ),
    )
    .option('--until <when>', say('only up to the end of this day', 'この日の終わりまで'))

export const addFilterOptions = (command: Command): Command =>
  addPeriodOptions(
    command
      .option('--agent <id>', AGENT_OPTION_HELP)
      .option(
        '--project <directory>',
        say(
          'only of this directory and those below it, or of one of this name',
          'このディレクトリーとその下だけ。名前だけでも可',
        ),
      )
      .option(
        '--model <name>',
        say('only with this model; * stands for anything', 'このモデルを使った会話だけ。* は任意の文字列'),
      )
      .option('--tool <name>', say('only with calls of this tool', 'このツールを呼び出した会話だけ')),
  )

export const hasSessionFilters = (options: FilterOptions): boolean =>
  [options.agent, options.project, options.model, options.tool, options.since, options.until].some(
    (one) => one !== undefined,
  )

export function toSessionFilter({ agent, project, model, tool, since, until }: FilterOptions): SessionFilter {
  return {
    ...(agent !== undefined && { agents: [agent] }),
    ...(project !== undefined && { project: resolveProject(project) }),
    ...(model !== undefined && { model }),
    ...(tool !== undefined && { tool }),
    ...(since !== undefined && { since: Date.parse(parsePeriodOption('--since', since).from) }),
    ...(until !== undefined && { until: Date.parse(parsePeriodOption('--until', until).until) }),
  }
}

export function parsePeriodOption(option: string, text: string): Period {
  const period = parsePeriod(text, new Date())
  if (!period)
    throw new AppError(
      'bad_usage',
      `${option} takes a day or a moment: 2026-11-15, today, 7d, 12h.`,
      `${option} には日付か時点を指定してください: 2026-11-15、today、7d、12h。`,
    )
  return period
}

/** A name alone is looked for in every path; anything that says where it lies is a directory. */
export const resolveProject = (text: string): string => (/^\.{1,2}$|[/\\]/.test(text) ? resolve(text) : text)

export function parseLimit(text: string | undefined, defaultLimit: number): number {
  const limit = text === undefined ? defaultLimit : Number(text)
  if (!Number.isInteger(limit) || limit < 0)
    throw new AppError(
      'bad_usage',
      '--limit takes a whole number; 0 means all.',
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
          'only in: prompts, answers, arguments, output, reasoning, files, titles',
          '探す場所: prompts、answers、arguments、output、reasoning、files、titles',
        ),
      )
      .option('--role <role>', say('only what they said: user, assistant, tool', '発言者: user、assistant、tool'))
      .option('--agent <id>', AGENT_OPTION_HELP)
      .option('--project <directory>', say('only of this directory', 'このディレクトリーだけ'))
      .option('--model <name>', say('only with this model', 'このモデルだけ'))
      .option('--tool <name>', say('only calls of this tool, and their results', 'このツールの呼び出しと結果だけ')),
  )

export function buildQueryText(words: readonly string[], options: QueryOptions): string {
  const { scope, role, agent, project, model, tool, since, until } = options
  const parts = [
    ...words,
    formatFilter('--scope', 'in', scope),
    formatFilter('--role', 'role', role),
    formatFilter('--agent', 'agent', agent),
    formatFilter('--project', 'project', project === undefined ? undefined : resolveProject(project)),
    formatFilter('--model', 'model', model),
    formatFilter('--tool', 'tool', tool),
    formatFilter('--since', 'after', since === undefined ? undefined : parsePeriodOption('--since', since).from),
    formatFilter('--until', 'before', until === undefined ? undefined : parsePeriodOption('--until', until).until),
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function formatFilter(option: string, name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (value.includes('"'))
    throw new AppError('bad_usage', `${option} takes no quotation marks.`, `${option} の値に引用符は使えません。`)
  return `${name}:"${value}"`
}

/** The options of a search as words of its query: what can be asked by an option can be typed as well. */
import type { Command } from 'commander'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'
import {
  AGENT_OPTION_HELP,
  addPeriodOptions,
  type FilterOptions,
  parsePeriodOption,
  resolveProject,
} from './filters.ts'

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

/** The options of a search as words of its query: what can be asked by an option can be typed as well. */
import type { Command } from 'commander'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'
import { type FilterOptions, OF_AGENT, periodNamed, projectOf, withPeriod } from './filters.ts'

export interface QueryOptions extends FilterOptions {
  readonly scope?: string
  readonly role?: string
}

export const withQueryFilters = (command: Command): Command =>
  withPeriod(
    command
      .option(
        '--scope <where>',
        say(
          'only in: prompts, answers, arguments, output, reasoning, files, titles',
          '探す場所: prompts、answers、arguments、output、reasoning、files、titles',
        ),
      )
      .option('--role <role>', say('only what they said: user, assistant, tool', '発言者: user、assistant、tool'))
      .option('--agent <id>', OF_AGENT)
      .option('--project <directory>', say('only of this directory', 'このディレクトリーだけ'))
      .option('--model <name>', say('only with this model', 'このモデルだけ'))
      .option('--tool <name>', say('only calls of this tool, and their results', 'このツールの呼び出しと結果だけ')),
  )

export function queryText(words: readonly string[], options: QueryOptions): string {
  const { scope, role, agent, project, model, tool, since, until } = options
  const parts = [
    ...words,
    filter('--scope', 'in', scope),
    filter('--role', 'role', role),
    filter('--agent', 'agent', agent),
    filter('--project', 'project', project === undefined ? undefined : projectOf(project)),
    filter('--model', 'model', model),
    filter('--tool', 'tool', tool),
    filter('--since', 'after', since === undefined ? undefined : periodNamed('--since', since).from),
    filter('--until', 'before', until === undefined ? undefined : periodNamed('--until', until).until),
  ]
  return parts.filter((part) => part !== '').join(' ')
}

function filter(option: string, name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (value.includes('"'))
    throw new AppError('bad_usage', `${option} takes no quotation marks.`, `${option} の値に引用符は使えません。`)
  return `${name}:"${value}"`
}

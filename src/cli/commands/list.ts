/** `fumi list`: lists sessions, newest first. */
import type { Command } from 'commander'
import type { App, SessionAnnotation, SessionFilter, SessionOrder, SessionPage } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { phrase } from '../../model/phrase.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { listLogSessions } from '../find-session.ts'
import { checkAgent, checkFilterOptions } from '../index-queries/check-filters.ts'
import {
  addFilterOptions,
  type FilterOptions,
  hasSessionFilters,
  parseLimit,
  toSessionFilter,
} from '../index-queries/filters.ts'
import { refreshIndex } from '../index-queries/refresh-index.ts'
import { parseFields, type SessionField, selectFields } from '../index-queries/session-fields.ts'
import { entryToRow, logSessionToRow, type SessionRow } from '../index-queries/session-row.ts'
import { localize } from '../language.ts'
import { writeErr } from '../output.ts'
import { printReport } from '../pager.ts'
import { incompleteError, printIssues, reportIncomplete } from '../report-issues.ts'

interface Options extends FilterOptions {
  readonly limit?: string
  readonly sort?: SortKey
  readonly fields?: string
  readonly reverse?: boolean
  readonly children?: boolean
  readonly ended?: boolean
  readonly starred?: boolean
  readonly tag?: string
  readonly json?: boolean
}

/** Costs follow from the prices of today, so they are not in the index. */
type SortKey = SessionOrder | 'cost'

const SORT_KEYS: readonly SortKey[] = [
  'last',
  'started',
  'duration',
  'turns',
  'messages',
  'tools',
  'errors',
  'tokens',
  'cost',
  'size',
  'title',
]

export function listCommand(program: Command): void {
  defineCommand(program, 'list', 'list conversations, newest first', '会話を新しい順に一覧表示')
    .argument(
      '[path...]',
      'databases, log files or folders to list (default: all agents on this machine)',
      'データベース、ログファイル、フォルダー（既定: このマシンのすべてのエージェント）',
    )
    .group('Filters', '絞り込み')
    .with(addFilterOptions)
    .option(
      '--ended',
      'sessions that their program has overwritten or deleted',
      '元のプログラムが上書きまたは削除した会話だけ',
    )
    .option('--starred', 'sessions that you starred with fumi mark', 'fumi mark でスターを付けた会話だけ')
    .option('--tag <tag>', 'sessions with this tag of yours', 'このタグを付けた会話だけ')
    .option(
      '--children',
      'list forks and subagents separately from their parents',
      '分岐とサブエージェントを、親にまとめずに表示',
    )
    .group('Output', '出力')
    .option('--sort <by>', 'sort order', '並べ替えの基準', { choices: SORT_KEYS, default: 'last' })
    .option('--reverse', 'reverse the order', '逆順')
    .option(
      '-n, --limit <n>',
      'maximum number of sessions; 0 for all (default: 40 on a terminal, else all)',
      '表示件数の上限。0 で全件（既定: 端末では 40、それ以外は全件）',
    )
    .option(
      '--fields <names>',
      'comma-separated columns to print, also with --json, for example id,title,cost',
      '表示する列をカンマ区切りで指定（--json でも有効）。例: id,title,cost',
    )
    .option(...JSON_OPTION)
    .examples(
      'fumi list',
      'fumi list --agent kiro --since 7d',
      'fumi list --project . --sort tokens',
      'fumi list --ended',
      'fumi list --fields last_at,title,cost --sort cost',
      'fumi list ~/backup/data.sqlite3 --json',
    )
    .runWithApp(listSessions)
}

async function listSessions(app: App, paths: readonly string[], options: Options): Promise<void> {
  const limit = parseLimit(options.limit, options.json || !process.stdout.isTTY ? 0 : 40)
  const filter = toSessionFilter(options)
  const fields = options.fields === undefined ? undefined : parseFields(options.fields)
  const isIndexed = paths.length === 0 && (await refreshIndex(app, 'first'))
  const { agent: _, ...others } = options
  if (!isIndexed && (hasSessionFilters(others) || options.sort !== 'last'))
    throw new AppError(
      'bad_usage',
      'With a path, only the filters --agent, --starred and --tag work, and sorting does not. Omit the path to use the others.',
      'パスを指定した一覧では、絞り込みは --agent、--starred、--tag だけ使え、並べ替えはできません。ほかを使うにはパスを省いてください。',
    )
  if (isIndexed) await checkFilterOptions(app, options)
  else if (options.agent !== undefined) await checkAgent(app, options.agent)
  const { total, sessions, issues } = isIndexed
    ? await listFromIndex(app, filter, limit, options, fields)
    : await listFromLogs(app, paths, limit, options)
  if (total === 0) await printIssues(issues)
  if (total === 0 && !(hasSessionFilters(options) || filtersByAnnotation(options) || options.ended)) {
    const error = incompleteError(issues) ?? noSessionsError(paths)
    // For a script, a machine without conversations is an empty list.
    if (!options.json || paths.length > 0 || error.code !== 'nothing_readable') throw error
    await writeErr(`fumi: ${localize(error.phrase)}\n`)
  }
  await printReport(
    options.json,
    () => ({ total, sessions: fields ? sessions.map((one) => selectFields(one, fields)) : sessions }),
    async () => {
      const { renderFields, renderSessionTable } = await import('../view/session-table.ts')
      return fields ? renderFields(sessions, fields) : renderSessionTable(sessions, total)
    },
  )
  if (total > 0) await printIssues(issues)
  await reportIncomplete(issues)
}

interface SessionRows {
  readonly total: number
  readonly sessions: readonly SessionRow[]
  readonly issues: readonly Issue[]
}

const filtersByAnnotation = ({ starred, tag }: Options): boolean => starred !== undefined || tag !== undefined

/** Annotations by session, filtered by `--starred` and `--tag`. */
function readAnnotations(app: App, { starred, tag }: Options): ReadonlyMap<string, SessionAnnotation> {
  const annotations = app.annotations.list({ ...(starred && { starred }), ...(tag !== undefined && { tag }) })
  return new Map(annotations.map((annotation) => [annotation.session, annotation]))
}

async function listFromIndex(
  app: App,
  filter: SessionFilter,
  limit: number,
  options: Options,
  fields: readonly SessionField[] | undefined,
): Promise<SessionRows> {
  const annotations = readAnnotations(app, options)
  const endedBackups = new Map(app.backup.list({ alive: false }).map((backup) => [backup.session, backup]))
  const annotatedIds = filtersByAnnotation(options) ? [...annotations.keys()] : undefined
  const endedIds = options.ended ? [...endedBackups.keys()] : undefined
  const ids = (
    annotatedIds && endedIds
      ? annotatedIds.filter((id) => endedBackups.has(id as SessionId))
      : (annotatedIds ?? endedIds)
  ) as SessionId[]
  // Sessions that were selected one by one, and JSON, are never folded.
  const showsChildren = options.children || options.json || ids !== undefined
  const { sort = 'last' } = options
  const selection = {
    ...filter,
    ...(ids && { ids }),
    ascending: (sort === 'title') !== (options.reverse === true),
    limit: limit === 0 ? -1 : limit,
    children: showsChildren ? ('all' as const) : ('fold' as const),
  }
  const page: SessionPage = sort === 'cost' ? await app.listByCost(selection) : app.list({ ...selection, sort })
  const costs = sort === 'cost' || fields?.includes('cost') ? await app.costs() : undefined
  return {
    total: page.total,
    sessions: page.sessions.map((one) => ({
      ...entryToRow(one, endedBackups.get(one.id), annotations.get(one.id)),
      ...(costs && { cost: costs[one.id]?.usd ?? 0 }),
    })),
    issues: app.index.unreadable(options.agent),
  }
}

async function listFromLogs(app: App, paths: readonly string[], limit: number, options: Options): Promise<SessionRows> {
  const { sessions, issues } = await listLogSessions(app, paths)
  const annotations = readAnnotations(app, options)
  const wanted = sessions.filter(
    ({ session, kept: backup }) =>
      (options.agent === undefined || session.agent === options.agent) &&
      (!options.ended || backup) &&
      (!filtersByAnnotation(options) || annotations.has(session.id)),
  )
  const ordered = options.reverse ? wanted.toReversed() : wanted
  const shown = limit === 0 ? ordered : ordered.slice(0, limit)
  return {
    total: wanted.length,
    sessions: shown.map((one) => logSessionToRow(one, annotations.get(one.session.id))),
    issues,
  }
}

const noSessionsError = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `No conversations in ${paths.join(', ')}. Specify a log of a supported agent, or a folder that contains logs.`,
          `${paths.join('、')} に会話がありません。対応するエージェントのログか、それを含むフォルダーを指定してください。`,
        )
      : phrase(
          'No conversations found on this machine. Run fumi doctor to see where fumi looked, or specify a path: fumi list <folder>.',
          'このマシンに会話が見つかりません。調べた場所は fumi doctor で分かります。パスも指定できます: fumi list <フォルダー>',
        ),
  )

/** `fumi list`: the conversations there are, newest first. */
import { type Command, Option } from 'commander'
import type { House, Mark, SessionFilter, Sort } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { phrase } from '../../model/phrase.ts'
import { type FilterOptions, filterOf, isFiltered, limitOf, withFilters } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { rowOfEntry, rowOfListing, type SessionRow } from '../ask/session-row.ts'
import { openHouse } from '../house.ts'
import { mayBeMissing, tellIncomplete } from '../incomplete.ts'
import { tellIssues } from '../issues.ts'
import { say } from '../language.ts'
import { writeJson, writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
import { examples } from '../run/examples.ts'
import { listSessions } from '../sessions.ts'

interface Options extends FilterOptions {
  readonly limit?: string
  readonly sort?: Sort
  readonly reverse?: boolean
  readonly children?: boolean
  readonly ended?: boolean
  readonly starred?: boolean
  readonly tag?: string
  readonly json?: boolean
}

const SORTS: readonly Sort[] = ['last', 'started', 'messages', 'tokens', 'size', 'title']

export function listCommand(program: Command): void {
  withFilters(
    program
      .command('list')
      .summary(
        say(
          'list conversations, newest first, with those that only fumibako still has',
          '会話を新しい順に一覧表示。fumibako だけに残る会話も含む',
        ),
      )
      .argument(
        '[path...]',
        say(
          'databases, log files or folders (default: every agent found on this machine)',
          'データベース、ログファイル、フォルダー（既定: このマシンのすべてのエージェント）',
        ),
      ),
  )
    .option(
      '--ended',
      say('only those that their program has overwritten or lost', '元のプログラムが上書きしたか失った会話だけ'),
    )
    .option(
      '--starred',
      say('only those that you gave a star; see fumi mark', 'スターを付けた会話だけ（fumi mark を参照）'),
    )
    .option('--tag <tag>', say('only those that you gave this tag', 'このタグを付けた会話だけ'))
    .option(
      '--children',
      say(
        'forks and sub-agents too, not folded under their parents',
        '分岐とサブエージェントも、親の下にまとめずに表示',
      ),
    )
    .addOption(new Option('--sort <by>', say('what comes first', '並べ替えの基準')).choices(SORTS).default('last'))
    .option('--reverse', say('the other way round', '逆順'))
    .option(
      '-n, --limit <n>',
      say(
        'how many at most; 0 for all (default: 40, with --json all)',
        '表示件数の上限。0 で全件（既定: 40、--json では全件）',
      ),
    )
    .option('--json', say('print JSON', 'JSON で出力'))
    .addHelpText(
      'after',
      examples(
        'fumi list',
        'fumi list --agent kiro --since 7d',
        'fumi list --project . --sort tokens',
        'fumi list --ended',
        'fumi list ~/backup/data.sqlite3 --json',
      ),
    )
    .action(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const limit = limitOf(options.limit, options.json ? 0 : 40)
  const house = await openHouse()
  try {
    const filter = filterOf(options)
    const isIndexed = paths.length === 0 && (await freshen(house, 'first'))
    const { agent: _, ...others } = options
    if (!isIndexed && (isFiltered(others) || options.sort !== 'last'))
      throw new AppError(
        'bad_usage',
        'what lies at a path is listed as it is: only --agent, --starred and --tag narrow it down.',
        'パスを指定した一覧で絞り込みに使えるのは --agent、--starred、--tag だけです。並べ替えはできません。',
      )
    const { total, sessions, issues } = isIndexed
      ? fromIndex(house, filter, limit, options)
      : await fromLogs(house, paths, limit, options)
    if (total === 0) await tellIssues(issues)
    if (total === 0 && !(isFiltered(options) || isAboutMarks(options) || options.ended))
      throw mayBeMissing(issues) ?? nothing(paths)
    if (options.json) await writeJson({ total, sessions })
    else {
      await openPager()
      await writeOut((await import('../view/session-table.ts')).sessionTable(sessions, total))
    }
    if (total > 0) await tellIssues(issues)
    await tellIncomplete(issues)
  } finally {
    house.close()
  }
}

interface Rows {
  readonly total: number
  readonly sessions: readonly SessionRow[]
  readonly issues: readonly Issue[]
}

const isAboutMarks = ({ starred, tag }: Options): boolean => starred !== undefined || tag !== undefined

/** By session. Only those that were asked for. */
function marksIn(house: House, { starred, tag }: Options): ReadonlyMap<string, Mark> {
  const marks = house.marks.list({ ...(starred && { starred }), ...(tag !== undefined && { tag }) })
  return new Map(marks.map((mark) => [mark.session, mark]))
}

function fromIndex(house: House, filter: SessionFilter, limit: number, options: Options): Rows {
  const marks = marksIn(house, options)
  const ended = new Map(house.keep.list({ alive: false }).map((kept) => [kept.session, kept]))
  const marked = isAboutMarks(options) ? [...marks.keys()] : undefined
  const gone = options.ended ? [...ended.keys()] : undefined
  const ids = (marked && gone ? marked.filter((id) => ended.has(id as SessionId)) : (marked ?? gone)) as SessionId[]
  // What was picked out one by one, and what a program reads, is never folded away.
  const isWhole = options.children || options.json || ids !== undefined
  const { total, sessions } = house.list({
    ...filter,
    ...(ids && { ids }),
    sort: options.sort ?? 'last',
    ascending: (options.sort === 'title') !== (options.reverse === true),
    limit: limit === 0 ? -1 : limit,
    children: isWhole ? 'all' : 'fold',
  })
  return {
    total,
    sessions: sessions.map((one) => rowOfEntry(one, ended.get(one.id), marks.get(one.id))),
    issues: house.index.unreadable(options.agent),
  }
}

async function fromLogs(house: House, paths: readonly string[], limit: number, options: Options): Promise<Rows> {
  const { sessions, issues } = await listSessions(house, paths)
  const marks = marksIn(house, options)
  const wanted = sessions.filter(
    ({ session, kept }) =>
      (options.agent === undefined || session.agent === options.agent) &&
      (!options.ended || kept) &&
      (!isAboutMarks(options) || marks.has(session.id)),
  )
  const ordered = options.reverse ? wanted.toReversed() : wanted
  const shown = limit === 0 ? ordered : ordered.slice(0, limit)
  return { total: wanted.length, sessions: shown.map((one) => rowOfListing(one, marks.get(one.session.id))), issues }
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `no conversation in ${paths.join(', ')}. Give a log of a known agent, or a folder that holds some.`,
          `${paths.join('、')} に会話がありません。対応するエージェントのログか、それを含むフォルダーを指定してください。`,
        )
      : phrase(
          'no conversation was found on this machine. Give a path: fumi list <folder>.',
          'このマシンに会話が見つかりません。パスを指定してください: fumi list <フォルダー>',
        ),
  )

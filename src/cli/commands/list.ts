/** `fumi list`: the conversations there are, newest first. */
import { type Command, Option } from 'commander'
import type { House, Mark, SessionFilter, Sort } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Issue } from '../../model/issue.ts'
import { type FilterOptions, filterOf, isFiltered, limitOf, withFilters } from '../ask/filters.ts'
import { freshen } from '../ask/fresh.ts'
import { rowOfEntry, rowOfListing, type SessionRow } from '../ask/session-row.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { writeOut } from '../output.ts'
import { openPager } from '../pager.ts'
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
      .summary('list conversations, newest first, with those that only fumibako still has')
      .argument('[path...]', 'databases, log files or folders (default: every agent found on this machine)'),
  )
    .option('--ended', 'only those that their program has overwritten or lost')
    .option('--starred', 'only those that you gave a star; see fumi mark')
    .option('--tag <tag>', 'only those that you gave this tag')
    .option('--children', 'forks and sub-agents too, not folded under their parents')
    .addOption(new Option('--sort <by>', 'what comes first').choices(SORTS).default('last'))
    .option('--reverse', 'the other way round')
    .option('-n, --limit <n>', 'how many at most; 0 for all (default: 40, with --json all)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi list\n  fumi list --agent kiro --since 7d\n  fumi list --project . --sort tokens\n  fumi list --ended\n  fumi list ~/backup/data.sqlite3 --json',
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
      )
    const { total, sessions, issues } = isIndexed
      ? fromIndex(house, filter, limit, options)
      : await fromLogs(house, paths, limit, options)
    if (total === 0) await tellIssues(issues)
    if (total === 0 && !(isFiltered(options) || isAboutMarks(options) || options.ended)) throw nothing(paths)
    if (options.json) await writeOut(`${JSON.stringify({ total, sessions })}\n`)
    else {
      await openPager()
      await writeOut((await import('../view/session-table.ts')).sessionTable(sessions, total))
    }
    if (total > 0) await tellIssues(issues)
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
    issues: house.index.unreadable(),
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
  const shown = (limit === 0 ? wanted : wanted.slice(0, limit)).map((one) =>
    rowOfListing(one, marks.get(one.session.id)),
  )
  return { total: wanted.length, sessions: options.reverse ? shown.reverse() : shown, issues }
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? `no conversation in ${paths.join(', ')}. Give a log of a known agent, or a folder that holds some.`
      : 'no conversation was found on this machine. Give a path: fumi list <folder>.',
  )

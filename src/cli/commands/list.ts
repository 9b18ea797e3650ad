/** `fumi list`: the conversations there are, newest first. */
import type { Command } from 'commander'
import type { Mark } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { writeOut } from '../output.ts'
import { type Listing, listSessions } from '../sessions.ts'

interface Options {
  readonly agent?: string
  readonly limit: string
  readonly ended?: boolean
  readonly starred?: boolean
  readonly tag?: string
  readonly json?: boolean
}

export function listCommand(program: Command): void {
  program
    .command('list')
    .summary('list conversations, newest first, with those that only fumibako still has')
    .argument('[path...]', 'databases, log files or folders (default: every agent found on this machine)')
    .option('--agent <id>', 'only those of one agent: codex, amazon-q, kiro …')
    .option('--ended', 'only those that their program has overwritten or lost')
    .option('--starred', 'only those that you gave a star; see fumi mark')
    .option('--tag <tag>', 'only those that you gave this tag')
    .option('-n, --limit <n>', 'how many at most; 0 for all', '40')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi list\n  fumi list --agent kiro --limit 0\n  fumi list --ended\n  fumi list ~/backup/data.sqlite3 --json',
    )
    .action(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 0)
    throw new AppError('bad_usage', '--limit takes a whole number; 0 means all.')
  const house = await openHouse()
  try {
    const { sessions, issues } = await listSessions(house, paths)
    const { starred, tag } = options
    const isAboutMarks = starred !== undefined || tag !== undefined
    const marks = house.marks.list({ ...(starred && { starred }), ...(tag !== undefined && { tag }) })
    const marked = new Map(marks.map((mark) => [mark.session, mark]))
    const wanted = sessions.filter(
      ({ session, kept }) =>
        (options.agent === undefined || session.agent === options.agent) &&
        (!options.ended || kept) &&
        (!isAboutMarks || marked.has(session.id)),
    )
    if (sessions.length === 0) {
      await tellIssues(issues)
      throw nothing(paths)
    }
    const shown = limit === 0 ? wanted : wanted.slice(0, limit)
    if (options.json) await writeOut(`${JSON.stringify(shown.map((one) => jsonOf(one, marked.get(one.session.id))))}\n`)
    else await writeOut((await import('../view/session-table.ts')).sessionTable(shown, wanted.length, marked))
    await tellIssues(issues)
  } finally {
    house.close()
  }
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? `no conversation in ${paths.join(', ')}. Give a log of a known agent, or a folder that holds some.`
      : 'no conversation was found on this machine. Give a path: fumi list <folder>.',
  )

const jsonOf = ({ session, last_at, messages, log, kept }: Listing, mark: Mark | undefined): object => ({
  id: session.id,
  agent: session.agent,
  kind: session.kind,
  title: session.title ?? session.first_prompt ?? null,
  cwd: session.cwd ?? null,
  models: session.models,
  started_at: session.started_at,
  last_at,
  messages: messages ?? null,
  path: log.source.path,
  ended_at: kept?.ended_at ?? null,
  ended_how: kept?.ended_how ?? null,
  name: mark?.name ?? null,
  starred: mark?.starred ?? false,
  tags: mark?.tags ?? [],
  note: mark?.note ?? null,
})

/** `fumi list`: the conversations there are, newest first. */
import type { Command } from 'commander'
import { AppError } from '../../model/error.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { writeOut } from '../output.ts'
import { type Listing, listSessions } from '../sessions.ts'

interface Options {
  readonly agent?: string
  readonly limit: string
  readonly ended?: boolean
  readonly json?: boolean
}

export function listCommand(program: Command): void {
  program
    .command('list')
    .summary('list conversations, newest first, with those that only fumibako still has')
    .argument('[path...]', 'databases, log files or folders (default: every agent found on this machine)')
    .option('--agent <id>', 'only those of one agent: codex, amazon-q, kiro …')
    .option('--ended', 'only those that their program has overwritten or lost')
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
    const wanted = sessions.filter(
      ({ session, kept }) =>
        (options.agent === undefined || session.agent === options.agent) && (!options.ended || kept),
    )
    if (sessions.length === 0) throw nothing(paths)
    const shown = limit === 0 ? wanted : wanted.slice(0, limit)
    if (options.json) await writeOut(`${JSON.stringify(shown.map(jsonOf))}\n`)
    else await writeOut((await import('../view/session-table.ts')).sessionTable(shown, wanted.length))
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

const jsonOf = ({ session, last_at, messages, log, kept }: Listing): object => ({
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
})

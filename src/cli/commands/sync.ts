/** `fumi sync`: brings the index up to date, or keeps it so. */
import type { Command } from 'commander'
import type { House, SyncOutcome } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { syncBar } from '../ask/sync-bar.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { writeErr, writeOut } from '../output.ts'

interface Options {
  readonly full?: boolean
  readonly watch?: boolean
  readonly json?: boolean
}

export function syncCommand(program: Command): void {
  program
    .command('sync')
    .summary('bring the index up to date; other commands do so by themselves')
    .option('--full', 'throw the index away and make it anew; nothing that was kept is touched')
    .option('--watch', 'go on, and follow every change as it is written')
    .option('--json', 'print JSON, with --watch one object per line')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi sync\n  fumi sync --watch\n  fumi sync --full\n\nIt may be stopped at any moment: the next one goes on where it stopped.',
    )
    .action(run)
}

async function run(options: Options): Promise<void> {
  const house = await openHouse()
  const bar = await syncBar()
  try {
    const start = performance.now()
    const outcome = await house.sync({ anew: options.full === true, onProgress: bar.show })
    bar.stop()
    if (outcome.kind === 'held') throw held(outcome)
    await tell(house, outcome.synced, performance.now() - start, options)
    if (options.watch) await follow(house, options)
  } finally {
    bar.stop()
    house.close()
  }
}

const held = ({ by }: Extract<SyncOutcome, { kind: 'held' }>): AppError =>
  new AppError(
    'busy',
    by === undefined
      ? 'another process is at it just now.'
      : `another process is at it: ${by.what} (process ${by.pid}) since ${by.since}. What it writes is there for every command.`,
  )

type Synced = Extract<SyncOutcome, { kind: 'synced' }>['synced']

async function tell(house: House, synced: Synced, ms: number, options: Options): Promise<void> {
  const { total } = house.list({ kind: 'any', children: 'all', limit: 0 })
  const { sources, scanned, gone, read } = synced
  if (options.json) await writeOut(`${JSON.stringify({ sources, scanned, gone, read, sessions: total })}\n`)
  else {
    const { count, plural } = await import('../view/table.ts')
    const news = scanned + gone === 0 ? 'nothing new' : `${count(scanned)} new or changed, ${count(gone)} gone`
    await writeOut(
      `${plural(total, 'session')} from ${plural(sources, 'source')}: ${news} (${(ms / 1000).toFixed(1)} s)\n`,
    )
  }
  await tellIssues(house.index.unreadable())
}

/** Until it is interrupted. */
async function follow(house: House, options: Options): Promise<void> {
  const stop = new AbortController()
  const outcome = await house.watch()
  if (outcome.kind === 'held') throw held(outcome)
  const end = (): void => stop.abort()
  process.once('SIGINT', end)
  process.once('SIGTERM', end)
  // A watch alone does not keep the process.
  const alive = setInterval(() => {}, 1 << 30)
  try {
    await outcome.ready
    if (!options.json) await writeErr('following every change — Ctrl-C ends it\n')
    const { changeLine } = await import('../view/found/change-line.ts')
    for await (const change of house.changes(stop.signal)) {
      if (options.json) await writeOut(`${JSON.stringify(change)}\n`)
      else await writeOut(changeLine(change, house.session(change.session)))
    }
  } finally {
    clearInterval(alive)
    await outcome.close()
  }
}

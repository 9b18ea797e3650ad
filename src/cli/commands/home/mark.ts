/** `fumi mark`: the user's own name, star, tags and note for a session. */
import type { Command } from 'commander'
import { type House, type Mark, type MarkChange, rightNow } from '../../../app.ts'
import { AppError } from '../../../model/error.ts'
import type { SessionId } from '../../../model/ids.ts'
import { openHouse } from '../../house.ts'
import { writeOut } from '../../output.ts'
import { findSession } from '../../sessions.ts'

interface Options extends MarkChange {
  readonly star?: boolean
  readonly clear?: boolean
  readonly search?: string
  readonly in?: string
  readonly json?: boolean
}

export function markCommand(program: Command): void {
  const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  program
    .command('mark')
    .summary('give a session a name, a star, tags or a note of your own')
    .argument('[session]', 'its id as fumi list shows it, or the beginning of it (default: list all marks)')
    .option('--name <text>', 'call it this; an empty text takes the name away')
    .option('--star', 'give it a star')
    .option('--no-star', 'take the star away')
    .option('--tag <tag>', 'give it this tag; as often as wanted', several)
    .option('--untag <tag>', 'take this tag away; as often as wanted', several)
    .option('--note <text>', 'write this beside it; an empty text takes the note away')
    .option('--clear', 'take all marks of the session away')
    .option('--search <text>', 'list the marks whose name, tags or note hold this')
    .option('--in <path>', 'look for the session in this database, file or folder')
    .option('--json', 'print JSON; without a session all marks, to save them elsewhere')
    .addHelpText(
      'after',
      '\nExamples:\n  fumi mark codex:019c22d1 --name "The double ring" --star\n  fumi mark codex:019c22d1 --tag timer --tag done --note "see the second turn"\n  fumi mark codex:019c22d1 --clear\n  fumi mark --search ring\n  fumi mark --json > marks.json',
    )
    .action(run)
}

async function run(name: string | undefined, options: Options): Promise<void> {
  const house = await openHouse()
  try {
    if (name === undefined) await listMarks(house, options)
    else await markOne(house, name, options)
  } finally {
    house.close()
  }
}

async function listMarks(house: House, options: Options): Promise<void> {
  if (isChange(options)) throw new AppError('bad_usage', 'say which session: fumi mark <session> …')
  const marks = house.marks.list(options.search === undefined ? {} : { text: options.search })
  if (options.json) await writeOut(`${JSON.stringify({ marks })}\n`)
  else await writeOut((await import('../../view/home/mark-table.ts')).markTable(marks))
}

async function markOne(house: House, name: string, options: Options): Promise<void> {
  if (options.search !== undefined)
    throw new AppError('bad_usage', '--search looks through all marks: leave the session out.')
  if (options.clear && isChange({ ...options, clear: false }))
    throw new AppError('bad_usage', '--clear takes everything away: leave the other options out.')
  const session = await sessionOf(house, name, options.in)
  const mark = changed(house, session, options)
  if (options.json) await writeOut(`${JSON.stringify(mark ?? { session })}\n`)
  else if (mark) await writeOut((await import('../../view/home/mark-table.ts')).markTable([mark]))
  else await writeOut(`${session} has no marks.\n`)
}

function changed(house: House, session: SessionId, options: Options): Mark | undefined {
  if (options.clear) house.marks.clear(session)
  else if (isChange(options)) {
    const { star, name, note, tag, untag } = options
    const change = { name, note, tag, untag, starred: star }
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
    return house.marks.change(session, given, rightNow())
  }
  return house.marks.get(session)
}

const isChange = ({ name, note, star, tag, untag, clear }: Options): boolean =>
  clear === true || [name, note, star, tag, untag].some((one) => one !== undefined)

/** A session that has marks is known, also when its log is gone. */
async function sessionOf(house: House, name: string, within: string | undefined): Promise<SessionId> {
  const known = house.marks.list().filter(({ session }) => session === name)
  if (known[0]) return known[0].session
  return (await findSession(house, name, within)).session.id
}

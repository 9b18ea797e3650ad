/** `fumi mark`: the user's own name, star, tags and note for a session. */
import type { Command } from 'commander'
import { type House, type Mark, type MarkChange, rightNow } from '../../../app.ts'
import { AppError } from '../../../model/error.ts'
import type { SessionId } from '../../../model/ids.ts'
import { openHouse } from '../../house.ts'
import { say } from '../../language.ts'
import { writeJson, writeOut } from '../../output.ts'
import { examples } from '../../run/examples.ts'
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
    .summary(say('give a session a name, a star, tags or a note of your own', '会話に名前・スター・タグ・メモを付ける'))
    .argument(
      '[session]',
      say(
        'its id as fumi list shows it, or the beginning of it (default: list all marks)',
        'fumi list が示す会話の ID、またはその先頭部分（既定: 付けたものをすべて一覧表示）',
      ),
    )
    .option('--name <text>', say('call it this; an empty text takes the name away', '名前。空にすると外す'))
    .option('--star', say('give it a star', 'スターを付ける'))
    .option('--no-star', say('take the star away', 'スターを外す'))
    .option('--tag <tag>', say('give it this tag; as often as wanted', 'タグを付ける。何度でも指定可'), several)
    .option('--untag <tag>', say('take this tag away; as often as wanted', 'タグを外す。何度でも指定可'), several)
    .option('--note <text>', say('write this beside it; an empty text takes the note away', 'メモ。空にすると外す'))
    .option('--clear', say('take all marks of the session away', '会話に付けたものをすべて外す'))
    .option(
      '--search <text>',
      say('list the marks whose name, tags or note hold this', '名前・タグ・メモにこの語を含む会話を一覧表示'),
    )
    .option(
      '--in <path>',
      say('look for the session in this database, file or folder', '会話を探すデータベース、ファイル、フォルダー'),
    )
    .option(
      '--json',
      say(
        'print JSON; without a session all marks, to save them elsewhere',
        'JSON で出力。会話を省くと、付けたものすべて（バックアップ用）',
      ),
    )
    .addHelpText(
      'after',
      examples(
        'fumi mark codex:019c22d1 --name "The double ring" --star',
        'fumi mark codex:019c22d1 --tag timer --tag done --note "see the second turn"',
        'fumi mark codex:019c22d1 --clear',
        'fumi mark --search ring',
        'fumi mark --json > marks.json',
      ),
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
  if (isChange(options))
    throw new AppError(
      'bad_usage',
      'say which session: fumi mark <session> …',
      '会話を指定してください: fumi mark <session> …',
    )
  const marks = house.marks.list(options.search === undefined ? {} : { text: options.search })
  if (options.json) await writeJson({ marks })
  else await writeOut((await import('../../view/home/mark-table.ts')).markTable(marks))
}

async function markOne(house: House, name: string, options: Options): Promise<void> {
  if (options.search !== undefined)
    throw new AppError(
      'bad_usage',
      '--search looks through all marks: leave the session out.',
      '--search はすべての会話を探します。会話の指定を外してください。',
    )
  if (options.clear && isChange({ ...options, clear: false }))
    throw new AppError(
      'bad_usage',
      '--clear takes everything away: leave the other options out.',
      '--clear はすべてを外します。ほかのオプションを外してください。',
    )
  const session = await sessionOf(house, name, options.in)
  const mark = changed(house, session, options)
  if (options.json) await writeJson(mark ?? { session })
  else if (mark) await writeOut((await import('../../view/home/mark-table.ts')).markTable([mark]))
  else await writeOut(say(`${session} has no marks.\n`, `${session} には何も付いていません。\n`))
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

/** `fumi mark`: the user's own name, star, tags and note for a session. */
import type { Command } from 'commander'
import { type AnnotationChange, type App, currentInstant, type SessionAnnotation } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { toSingleLine } from '../../model/tool-summary.ts'
import { defineCommand, IN_OPTION } from '../define-command.ts'
import { findSession } from '../find-session.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { renderTable, type TableColumn } from '../view/table.ts'
import { shortId, toTerminalText } from '../view/text.ts'

interface Options extends AnnotationChange {
  readonly star?: boolean
  readonly clear?: boolean
  readonly search?: string
  readonly in?: string
  readonly json?: boolean
}

export function markCommand(program: Command): void {
  defineCommand(
    program,
    'mark',
    'give a session a name, a star, tags or a note of your own',
    '会話に名前・スター・タグ・メモを付ける',
  )
    .argument(
      '[session]',
      'its id as fumi list shows it, or the beginning of it (default: list all marks)',
      'fumi list が示す会話の ID、またはその先頭部分（既定: 付けたものをすべて一覧表示）',
    )
    .option('--name <text>', 'call it this; an empty text takes the name away', '名前。空にすると外す')
    .option('--star', 'give it a star', 'スターを付ける')
    .option('--no-star', 'take the star away', 'スターを外す')
    .option('--tag <tag>', 'give it this tag; as often as wanted', 'タグを付ける。何度でも指定可', {
      isRepeatable: true,
    })
    .option('--untag <tag>', 'take this tag away; as often as wanted', 'タグを外す。何度でも指定可', {
      isRepeatable: true,
    })
    .option('--note <text>', 'write this beside it; an empty text takes the note away', 'メモ。空にすると外す')
    .option('--clear', 'take all marks of the session away', '会話に付けたものをすべて外す')
    .option(
      '--search <text>',
      'list the marks whose name, tags or note hold this',
      '名前・タグ・メモにこの語を含む会話を一覧表示',
    )
    .option(...IN_OPTION)
    .option(
      '--json',
      'print JSON; without a session all marks, to save them elsewhere',
      'JSON で出力。会話を省くと、付けたものすべて（バックアップ用）',
    )
    .examples(
      'fumi mark codex:019c22d1 --name "The double ring" --star',
      'fumi mark codex:019c22d1 --tag timer --tag done --note "see the second turn"',
      'fumi mark codex:019c22d1 --clear',
      'fumi mark --search ring',
      'fumi mark --json > marks.json',
    )
    .runWithApp(markSession)
}

async function markSession(app: App, name: string | undefined, options: Options): Promise<void> {
  if (name === undefined) await listAnnotations(app, options)
  else await annotateSession(app, name, options)
}

async function listAnnotations(app: App, options: Options): Promise<void> {
  if (hasChange(options))
    throw new AppError(
      'bad_usage',
      'say which session: fumi mark <session> …',
      '会話を指定してください: fumi mark <session> …',
    )
  const annotations = app.annotations.list(options.search === undefined ? {} : { text: options.search })
  if (options.json) await writeOutJson({ marks: annotations })
  else await writeOut(renderAnnotationTable(annotations))
}

async function annotateSession(app: App, name: string, options: Options): Promise<void> {
  if (options.search !== undefined)
    throw new AppError(
      'bad_usage',
      '--search looks through all marks: leave the session out.',
      '--search はすべての会話を探します。会話の指定を外してください。',
    )
  if (options.clear && hasChange({ ...options, clear: false }))
    throw new AppError(
      'bad_usage',
      '--clear takes everything away: leave the other options out.',
      '--clear はすべてを外します。ほかのオプションを外してください。',
    )
  const session = await resolveSessionId(app, name, options.in)
  const annotation = applyAnnotationChange(app, session, options)
  if (options.json) await writeOutJson(annotation ?? { session })
  else if (annotation) await writeOut(renderAnnotationTable([annotation]))
  else await writeOut(say(`${session} has no marks.\n`, `${session} には何も付いていません。\n`))
}

function applyAnnotationChange(app: App, session: SessionId, options: Options): SessionAnnotation | undefined {
  if (options.clear) app.annotations.clear(session)
  else if (hasChange(options)) {
    const { star, name, note, tag, untag } = options
    const change = { name, note, tag, untag, starred: star }
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
    return app.annotations.change(session, given, currentInstant())
  }
  return app.annotations.get(session)
}

const hasChange = ({ name, note, star, tag, untag, clear }: Options): boolean =>
  clear === true || [name, note, star, tag, untag].some((one) => one !== undefined)

/** An annotated session is known even when its log is gone. */
async function resolveSessionId(app: App, name: string, within: string | undefined): Promise<SessionId> {
  const known = app.annotations.list().filter(({ session }) => session === name)
  if (known[0]) return known[0].session
  return (await findSession(app, name, within)).session.id
}

const COLUMNS: readonly TableColumn[] = [
  { title: say('session', '会話 ID') },
  { title: '' },
  { title: say('name', '名前'), grows: true },
  { title: say('tags', 'タグ') },
  { title: say('note', 'メモ'), grows: true },
]

function renderAnnotationTable(annotations: readonly SessionAnnotation[]): string {
  if (annotations.length === 0) return say('None.\n', '印はありません。\n')
  const rows = annotations.map(({ session, name, starred, tags, note }) => [
    shortId(session),
    starred ? '★' : '',
    toTerminalText(name ?? ''),
    tags.map((tag) => `#${toTerminalText(tag)}`).join(' '),
    toSingleLine(toTerminalText(note ?? '')),
  ])
  return renderTable(COLUMNS, rows)
}

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
  defineCommand(program, 'mark', 'name, star, tag or annotate a session', '会話に名前・スター・タグ・メモを付ける')
    .argument(
      '[session]',
      'session id from fumi list; the first characters are enough (default: list all annotated sessions)',
      'fumi list に表示される会話 ID。先頭の数文字でもよい（既定: 名前などを付けた会話の一覧）',
    )
    .option('--name <text>', 'set the name; an empty text removes it', '名前を付ける。空にすると外す')
    .option('--star', 'add a star', 'スターを付ける')
    .option('--no-star', 'remove the star', 'スターを外す')
    .option('--tag <tag>', 'add a tag; repeatable', 'タグを付ける。何度でも指定可', {
      isRepeatable: true,
    })
    .option('--untag <tag>', 'remove a tag; repeatable', 'タグを外す。何度でも指定可', {
      isRepeatable: true,
    })
    .option('--note <text>', 'set the note; an empty text removes it', 'メモを付ける。空にすると外す')
    .option('--clear', 'remove the name, star, tags and note', '名前・スター・タグ・メモをすべて外す')
    .option(
      '--search <text>',
      'list sessions whose name, tags or note contain this text',
      '名前・タグ・メモにこの語句を含む会話を一覧表示',
    )
    .option(...IN_OPTION)
    .option(
      '--json',
      'print JSON; without a session, all annotations',
      'JSON で出力。会話を省くと、すべての名前・スター・タグ・メモ',
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
      'Specify a session: fumi mark <session> …',
      '会話を指定してください: fumi mark <会話 ID> …',
    )
  const annotations = app.annotations.list(options.search === undefined ? {} : { text: options.search })
  if (options.json) await writeOutJson({ marks: annotations })
  else await writeOut(renderAnnotationTable(annotations))
}

async function annotateSession(app: App, name: string, options: Options): Promise<void> {
  if (options.search !== undefined)
    throw new AppError(
      'bad_usage',
      '--search covers all sessions. Omit the session.',
      '--search はすべての会話を探します。会話の指定を外してください。',
    )
  if (options.clear && hasChange({ ...options, clear: false }))
    throw new AppError(
      'bad_usage',
      '--clear removes everything. Omit the other options.',
      '--clear はすべてを外します。ほかのオプションを外してください。',
    )
  const session = await resolveSessionId(app, name, options.in)
  const annotation = applyAnnotationChange(app, session, options)
  if (options.json) await writeOutJson(annotation ?? { session })
  else if (annotation) await writeOut(renderAnnotationTable([annotation]))
  else
    await writeOut(
      say(`${session} has no name, star, tags or note.\n`, `${session} には名前もスターもタグもメモもありません。\n`),
    )
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
  if (annotations.length === 0)
    return say('No annotated sessions.\n', '名前・スター・タグ・メモの付いた会話はありません。\n')
  const rows = annotations.map(({ session, name, starred, tags, note }) => [
    shortId(session),
    starred ? '★' : '',
    toTerminalText(name ?? ''),
    tags.map((tag) => `#${toTerminalText(tag)}`).join(' '),
    toSingleLine(toTerminalText(note ?? '')),
  ])
  return renderTable(COLUMNS, rows)
}

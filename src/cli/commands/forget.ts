/** `fumi forget`: removes a session from the index and the backup. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { defineCommand, JSON_OPTION, SESSION_ID } from '../define-command.ts'
import { findSession } from '../find-session.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { askYesNo } from '../trust-question.ts'

interface Options {
  readonly yes?: boolean
  readonly undo?: boolean
  readonly list?: boolean
  readonly json?: boolean
}

export function forgetCommand(program: Command): void {
  defineCommand(
    program,
    'forget',
    'take a session out of the index and the keep; its source is not touched',
    '会話を索引と保管庫から取り除く。元のログはそのまま',
  )
    .argument('[session]', ...SESSION_ID)
    .option('--yes', 'do not ask', '確認しない')
    .option(
      '--undo',
      'let a session that was forgotten be found again; what was kept of it is gone',
      '取り除いた会話を再び見つかるようにする。保管していた内容は戻らない',
    )
    .option('--list', 'tell what was forgotten', '取り除いた会話を一覧表示')
    .option(...JSON_OPTION)
    .examples('fumi forget codex:019c22d1', 'fumi forget --list', 'fumi forget codex:019c22d1 --undo')
    .runWithApp(forget)
}

async function forget(app: App, name: string | undefined, options: Options): Promise<void> {
  if (options.list) return await listForgotten(app, options)
  if (name === undefined)
    throw new AppError(
      'bad_usage',
      'say which session: fumi forget <session>, or --list.',
      '会話を指定してください: fumi forget <session>。一覧は --list です。',
    )
  if (options.undo) await undoForget(app, name, options)
  else await forgetNamed(app, name, options)
}

async function forgetNamed(app: App, name: string, options: Options): Promise<void> {
  const { session, kept: backup } = await findSession(app, name)
  const { id, path } = session
  const isOnlyHere = backup !== undefined || app.session(id)?.gone === true
  const loss = isOnlyHere
    ? say('Nothing else has it: it will be gone for good.', 'ほかに残っていないため、完全に失われます。')
    : say(`${path} is not touched.`, `${path} はそのまま残ります。`)
  if (
    !options.yes &&
    !(await askYesNo('', `${toPrintable(say(`Forget ${id}? ${loss}`, `${id} を取り除きますか？ ${loss}`))} [y/N] `))
  )
    throw new AppError(
      'bad_usage',
      `${id} was not forgotten. Say --yes to be asked nothing.`,
      `${id} は取り除いていません。確認を省くには --yes を付けてください。`,
    )
  await app.forget(id)
  await (options.json
    ? writeOutJson({ forgotten: id })
    : writeOut(toPrintable(say(`${id} is forgotten. ${loss}\n`, `${id} を取り除きました。${loss}\n`))))
}

async function undoForget(app: App, name: string, options: Options): Promise<void> {
  const found = app.backup.forgotten().filter(({ session }) => session === name || session.startsWith(name))
  const [only, ...more] = found
  if (!only)
    throw new AppError(
      'not_found',
      `no session ${name} was forgotten. See fumi forget --list.`,
      `取り除いた会話に ${name} はありません。fumi forget --list で確かめてください。`,
    )
  if (more.length > 0)
    throw new AppError(
      'bad_usage',
      `several were forgotten that begin with ${name}. Give more of it.`,
      `取り除いた会話に ${name} で始まるものが複数あります。もっと長く指定してください。`,
    )
  app.backup.unforget(only.session as SessionId)
  await (options.json
    ? writeOutJson({ remembered: only.session })
    : writeOut(
        toPrintable(say(`${only.session} may be found again.\n`, `${only.session} は再び見つかるようになりました。\n`)),
      ))
}

async function listForgotten(app: App, options: Options): Promise<void> {
  const forgotten = app.backup.forgotten().map(({ session, at }) => ({ session, at }))
  if (options.json) await writeOutJson({ forgotten })
  else
    await writeOut(
      forgotten.length === 0
        ? say('None.\n', 'ありません。\n')
        : forgotten.map(({ session, at }) => `${at}  ${session}\n`).join(''),
    )
}

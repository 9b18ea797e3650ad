/** `fumi forget`: removes a session from the index and the backup. */
import type { Command } from 'commander'
import type { App, Unreached } from '../../app.ts'
import { toPrintable } from '../../lib/text.ts'
import { AppError, assertNever } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { findPassphrase } from '../backup/exchange.ts'
import { defineCommand, JSON_OPTION, SESSION_ID } from '../define-command.ts'
import { findSession } from '../find-session.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { askYesNo } from '../trust-question.ts'

interface Options {
  readonly yes?: boolean
  readonly undo?: boolean
  readonly erase?: boolean
  readonly passphraseFile?: string
  readonly list?: boolean
  readonly json?: boolean
}

export function forgetCommand(program: Command): void {
  defineCommand(
    program,
    'forget',
    'remove a session from the index and the backup',
    '会話を索引とバックアップから取り除く',
  )
    .argument('[session]', ...SESSION_ID)
    .option('--yes', 'skip the confirmation', '確認を省く')
    .option(
      '--undo',
      'allow a forgotten session to be indexed again; its backup is not restored',
      '取り除いた会話を再び索引に入れる。バックアップは戻らない',
    )
    .option(
      '--erase',
      'also remove every trace from our files and from exchange folders that this machine wrote',
      'fumi のファイルと、このマシンが書き込んだ交換用フォルダーからも、跡を残さず消去',
    )
    .option(
      '--passphrase-file <file>',
      'with --erase, read the passphrase of exchange folders from this file',
      '--erase と使い、交換用フォルダーのパスフレーズをこのファイルから読む',
    )
    .option('--list', 'list forgotten sessions', '取り除いた会話を一覧表示')
    .option(...JSON_OPTION)
    .examples('fumi forget codex:019c22d1', 'fumi forget --list', 'fumi forget codex:019c22d1 --undo')
    .runWithApp(forget)
}

async function forget(app: App, name: string | undefined, options: Options): Promise<void> {
  if (options.list) return await listForgotten(app, options)
  if (name === undefined)
    throw new AppError(
      'bad_usage',
      'Specify a session: fumi forget <session>. Pass --list to list forgotten sessions.',
      '会話を指定してください: fumi forget <会話 ID>。取り除いた会話の一覧は --list です。',
    )
  if (options.undo) await undoForget(app, name, options)
  else await forgetNamed(app, name, options)
}

async function forgetNamed(app: App, name: string, options: Options): Promise<void> {
  const { session, kept: backup } = await findSession(app, name)
  const { id, path } = session
  const isOnlyHere = backup !== undefined || app.session(id)?.gone === true
  const loss = isOnlyHere
    ? say('There is no other copy. This cannot be undone.', 'ほかに写しはありません。この操作は取り消せません。')
    : say(`${path} stays unchanged.`, `${path} はそのまま残ります。`)
  if (
    !options.yes &&
    !(await askYesNo('', `${toPrintable(say(`Forget ${id}? ${loss}`, `${id} を取り除きますか？ ${loss}`))} [y/N] `))
  )
    throw new AppError(
      'bad_usage',
      `${id} not forgotten. Pass --yes to skip the confirmation.`,
      `${id} は取り除いていません。確認を省くには --yes を付けてください。`,
    )
  if (options.erase) return eraseSession(app, id, options)
  await app.forget(id)
  await (options.json
    ? writeOutJson({ forgotten: id })
    : writeOut(toPrintable(say(`Forgot ${id}. ${loss}\n`, `${id} を取り除きました。${loss}\n`))))
}

async function eraseSession(app: App, id: SessionId, options: Options): Promise<void> {
  const isExchanged = app.backup.exchangeFolders().length > 0
  const passphrase = isExchanged ? await findPassphrase(options.passphraseFile) : undefined
  const { folders, unreached } = await app.backups.erase(id, passphrase)
  app.annotations.erase(id)
  if (options.json)
    return writeOutJson({
      erased: id,
      folders,
      unreached: unreached.map(({ reason, ...one }) => ({ ...one, ...(reason && { reason: reason.en }) })),
    })
  await writeOut(
    toPrintable(
      say(
        `Erased ${id} from the index, the backup${folders.length > 0 ? ` and ${folders.join(', ')}` : ''}.\n`,
        `${id} を索引とバックアップ${folders.length > 0 ? `、${folders.join('、')} ` : ''}から消去しました。\n`,
      ),
    ),
  )
  for (const one of unreached) await writeOut(toPrintable(`  ${describeUnreached(one)}\n`))
}

function describeUnreached({ what, path, reason }: Unreached): string {
  switch (what) {
    case 'original':
      return say(
        `still there: ${path}, which belongs to its program`,
        `残っています: ${path}（元のプログラムのファイル）`,
      )
    case 'exchange_folder':
      return say(
        `not reached: ${path} (${reason?.en}). Run fumi backup --to ${path} when it is available`,
        `届きませんでした: ${path}（${reason?.ja}）。使えるときに fumi backup --to ${path} を実行してください`,
      )
    case 'machine':
      return say(
        `${path} erases it with its next fumi backup --from, if it took it over`,
        `${path} が取り込んでいれば、そこで次に fumi backup --from を実行したときに消去されます`,
      )
    default:
      return assertNever(what)
  }
}

async function undoForget(app: App, name: string, options: Options): Promise<void> {
  const found = app.backup.forgotten().filter(({ session }) => session === name || session.startsWith(name))
  const [only, ...more] = found
  if (!only)
    throw new AppError(
      'not_found',
      `No forgotten session matches ${name}. Run fumi forget --list for a list.`,
      `取り除いた会話に ${name} はありません。一覧は fumi forget --list で見られます。`,
    )
  if (more.length > 0)
    throw new AppError(
      'bad_usage',
      `${name} matches several forgotten sessions. Type more characters of the id.`,
      `${name} で始まる取り除いた会話が複数あります。ID をもっと長く指定してください。`,
    )
  app.backup.unforget(only.session as SessionId)
  await (options.json
    ? writeOutJson({ remembered: only.session })
    : writeOut(
        toPrintable(say(`${only.session} will be indexed again.\n`, `${only.session} は再び索引に入ります。\n`)),
      ))
}

async function listForgotten(app: App, options: Options): Promise<void> {
  const forgotten = app.backup.forgotten().map(({ session, at }) => ({ session, at }))
  if (options.json) await writeOutJson({ forgotten })
  else
    await writeOut(
      forgotten.length === 0
        ? say('No forgotten sessions.\n', '取り除いた会話はありません。\n')
        : forgotten.map(({ session, at }) => `${at}  ${session}\n`).join(''),
    )
}

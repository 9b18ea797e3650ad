/** `fumi restore`: restores a backed-up conversation to a file or to its store. */
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { App, BackedUpSession } from '../../app.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { specialKindAt } from '../../lib/files/regular-file.ts'
import { isSystemError, toWriteError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, FORCE_OPTION, JSON_OPTION, SESSION_ID } from '../define-command.ts'
import { existsError } from '../export-files.ts'
import { matchByName } from '../find-session.ts'
import { say } from '../language.ts'
import { writeData, writeErr, writeOut, writeOutJson } from '../output.ts'

interface Options {
  readonly to?: string
  readonly install?: boolean
  readonly directory?: string
  readonly force?: boolean
  readonly json?: boolean
}

export function restoreCommand(program: Command): void {
  defineCommand(
    program,
    'restore',
    'give a kept conversation back: as a file to /load, or into its store',
    '保管した会話を戻す。/load 用のファイルに、または元の保存場所に',
  )
    .argument('<session>', ...SESSION_ID)
    .option(
      '--to <file>',
      'write it to this file, which /load reads; - for standard output',
      '/load で読めるファイルに書き込む。- は標準出力',
    )
    .option(
      '--install',
      'put it back into the store, in place of what is there now',
      '元の保存場所に戻し、今ある会話と置き換える',
    )
    .option(
      '--directory <path>',
      'with --install: for this directory instead of its own',
      '--install のとき、元のディレクトリーの代わりに使う場所',
    )
    .option(...FORCE_OPTION)
    .option(...JSON_OPTION)
    .examples(
      `fumi restore amazon-q:1b4e28ba --to talk.json      ${say('then in q chat:', 'その後、q chat で:')} /load talk.json`,
      `fumi restore amazon-q:1b4e28ba --install          ${say('then in its directory:', 'その後、元のディレクトリーで:')} q chat --resume`,
    )
    .note(
      'What --install replaces is kept first. It refuses while the program is writing.',
      '--install で置き換える会話は、先に保管します。プログラムが書き込んでいる間は実行しません。',
    )
    .runWithApp(restore)
}

async function restore(app: App, name: string, options: Options): Promise<void> {
  if ((options.to === undefined) === !options.install)
    throw new AppError(
      'bad_usage',
      'say where to: --to <file>, or --install for the store itself.',
      '戻す先を指定してください。--to <ファイル>、または元の保存場所なら --install です。',
    )
  const backup = findBackup(name, app.backup.list())
  if (options.install) await installBackup(app, backup, options)
  else await writeRestored(app, backup, options.to ?? '-', options)
}

async function writeRestored(app: App, backup: BackedUpSession, to: string, options: Options): Promise<void> {
  const { volatile } = await app.backupService.agentOf(backup)
  const ready = volatile?.loadable(app.backup.bytes(backup.session))
  if (!ready)
    throw new AppError(
      'nothing_readable',
      `${backup.session} is kept, but its bytes are nothing that its program would load.`,
      `${backup.session} は保管されていますが、元のプログラムが読み込める内容ではありません。`,
    )
  for (const repair of ready.repairs) await writeErr(`${say('mended', '修正:')} ${repair}\n`)
  if (to === '-') return writeData(ready.text)
  saveNewFile(to, ready.text, options.force === true)
  if (options.json) await writeOutJson({ session: backup.session, file: resolve(to), repairs: ready.repairs })
  else
    await writeOut(
      say(
        `${to} holds ${backup.session}. In the chat: /load ${to}\n`,
        `${backup.session} を ${to} に書き込みました。会話の中で: /load ${to}\n`,
      ),
    )
}

/** Overwrites an existing file only with `--force`. */
function saveNewFile(path: string, text: string, force: boolean): void {
  if (force || specialKindAt(path)) return writeFileAtomically(path, [text])
  let fd: number
  try {
    fd = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw existsError(path)
    throw toWriteError(path, error)
  }
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } catch (error) {
    throw toWriteError(path, error)
  } finally {
    closeSync(fd)
  }
}

async function installBackup(app: App, backup: BackedUpSession, options: Options): Promise<void> {
  const done = await app.backupService.restore(
    backup,
    options.directory === undefined ? undefined : resolve(options.directory),
  )
  if (options.json) return writeOutJson({ session: backup.session, ...done })
  for (const repair of done.repairs) await writeErr(`${say('mended', '修正:')} ${repair}\n`)
  await writeOut(
    say(`${backup.session} is in ${done.store} again.\n`, `${backup.session} を ${done.store} に戻しました。\n`),
  )
  if (done.backup !== undefined)
    await writeOut(
      say(
        `What stood there is kept, and also in ${done.backup}\n`,
        `置き換えた会話は保管してあります。控え: ${done.backup}\n`,
      ),
    )
}

function findBackup(name: string, all: readonly BackedUpSession[]): BackedUpSession {
  const found = matchByName(name, all, ({ session, native_id }) => [session, native_id])
  const [only, ...more] = found
  if (!only)
    throw new AppError(
      'not_found',
      `nothing is kept under ${name}. fumi list --ended shows what is; fumi keep keeps more.`,
      `${name} という会話は保管されていません。保管した会話は fumi list --ended で見られ、fumi keep で増やせます。`,
    )
  if (more.length > 0)
    throw new AppError(
      'bad_usage',
      `${found.length} kept sessions begin with ${name}. Give more of the id.`,
      `${name} で始まる保管済みの会話が ${found.length} 件あります。ID をもっと長く指定してください。`,
    )
  return only
}

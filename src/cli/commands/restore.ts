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
  defineCommand(program, 'restore', 'restore a conversation from the backup', 'バックアップした会話を戻す')
    .argument('<session>', ...SESSION_ID)
    .option(
      '--to <file>',
      'write a file that /load reads; - writes to standard output',
      '/load で読めるファイルに書き込む。- は標準出力',
    )
    .option(
      '--install',
      "put it back into its program's store, replacing the current conversation",
      '元の保存場所に戻し、今ある会話と置き換える',
    )
    .option(
      '--directory <path>',
      'with --install, use this directory instead of the original one',
      '--install と使い、元のディレクトリーの代わりにここに戻す',
    )
    .option(...FORCE_OPTION)
    .option(...JSON_OPTION)
    .examples(
      `fumi restore amazon-q:1b4e28ba --to talk.json      ${say('then in q chat:', 'その後、q chat で:')} /load talk.json`,
      `fumi restore amazon-q:1b4e28ba --install          ${say('then in the directory:', 'その後、元のディレクトリーで:')} q chat --resume`,
    )
    .note(
      '--install backs up what it replaces. It fails while the program is writing.',
      '--install で置き換える会話は、先にバックアップします。プログラムが書き込んでいる間は失敗します。',
    )
    .runWithApp(restore)
}

async function restore(app: App, name: string, options: Options): Promise<void> {
  if ((options.to === undefined) === !options.install)
    throw new AppError(
      'bad_usage',
      "specify a destination: --to <file>, or --install for the program's store.",
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
      `the backup of ${backup.session} is not in a form that its program can load.`,
      `${backup.session} のバックアップは、元のプログラムが読み込める形ではありません。`,
    )
  for (const repair of ready.repairs) await writeErr(`${say('repaired', '修正:')} ${repair}\n`)
  if (to === '-') return writeData(ready.text)
  saveNewFile(to, ready.text, options.force === true)
  if (options.json) await writeOutJson({ session: backup.session, file: resolve(to), repairs: ready.repairs })
  else
    await writeOut(
      say(
        `Wrote ${backup.session} to ${to}. To load it, type in the chat: /load ${to}\n`,
        `${backup.session} を ${to} に書き込みました。読み込むには、会話の中で /load ${to} と入力してください。\n`,
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
  for (const repair of done.repairs) await writeErr(`${say('repaired', '修正:')} ${repair}\n`)
  await writeOut(
    say(`Restored ${backup.session} to ${done.store}\n`, `${backup.session} を ${done.store} に戻しました。\n`),
  )
  if (done.backup !== undefined)
    await writeOut(
      say(
        `The replaced conversation is backed up, also as a file: ${done.backup}\n`,
        `置き換えた会話はバックアップしてあります。ファイル: ${done.backup}\n`,
      ),
    )
}

function findBackup(name: string, all: readonly BackedUpSession[]): BackedUpSession {
  const found = matchByName(name, all, ({ session, native_id }) => [session, native_id])
  const [only, ...more] = found
  if (!only)
    throw new AppError(
      'not_found',
      `no backup of ${name}. Run fumi list --ended to see what was backed up, or fumi backup to back up more.`,
      `${name} のバックアップはありません。バックアップした会話は fumi list --ended で見られ、fumi backup で増やせます。`,
    )
  if (more.length > 0)
    throw new AppError(
      'bad_usage',
      `${name} matches ${found.length} backups. Type more characters of the id.`,
      `${name} で始まるバックアップが ${found.length} 件あります。ID をもっと長く指定してください。`,
    )
  return only
}

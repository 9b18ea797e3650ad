/** `fumi restore`: gives a backed-up conversation back, as a file or at the place where its program resumes it. */
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatShellLine } from '../../agents/resume-command.ts'
import type { App, BackedUpSession } from '../../app.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { specialKindAt } from '../../lib/files/regular-file.ts'
import { isSystemError, toWriteError } from '../../lib/files/system-error.ts'
import { AppError } from '../../model/error.ts'
import { findBackedUpFile, installBackedUpFile, writeBackedUpFile } from '../backup/restore-file.ts'
import { defineCommand, JSON_OPTION, SESSION_ID } from '../define-command.ts'
import { existsError } from '../export-files.ts'
import { findIndexed, matchByName } from '../find-session.ts'
import { say } from '../language.ts'
import { writeData, writeErr, writeOut, writeOutJson } from '../output.ts'

interface Options {
  readonly to?: string
  readonly install?: boolean
  readonly directory?: string
  readonly here?: boolean
  readonly copy?: string
  readonly undo?: boolean
  readonly force?: boolean
  readonly json?: boolean
}

export function restoreCommand(program: Command): void {
  defineCommand(program, 'restore', 'restore a conversation from the backup', 'バックアップした会話を戻す')
    .argument('[session]', ...SESSION_ID)
    .option(
      '--to <file>',
      'write the original file, or a row as a file that /load reads; - writes to standard output',
      '元のファイルを書き込む。データベースの行は /load で読めるファイルにする。- は標準出力',
    )
    .option(
      '--install',
      'put it back where its program resumes it, replacing what is there now',
      'プログラムが再開できる場所に戻し、今あるものと置き換える',
    )
    .option(
      '--here',
      'install it for the current directory, with its paths rewritten',
      '今のディレクトリーで再開できるように、パスを書き換えて戻す',
    )
    .option(
      '--directory <path>',
      'with --install, use this directory instead of the original one',
      '--install と使い、元のディレクトリーの代わりにここに戻す',
    )
    .option(
      '--copy <number>',
      'restore this one of several backups of the file (default: the one with the most content)',
      'ファイルのバックアップが複数あるとき、この番号のものを戻す（既定: 内容が最も多いもの）',
    )
    .option(
      '--undo',
      'undo the last --install, of this session or of any',
      '直前の --install を取り消す。会話を指定すればその会話のもの',
    )
    .option('--force', 'overwrite an existing file, also a longer one', '既存のファイルを、より長いものでも上書き')
    .option(...JSON_OPTION)
    .examples(
      `fumi restore codex:019c22d1 --install             ${say('a deleted or truncated log', '消えた、または切り詰められたログ')}`,
      `fumi restore codex:019c22d1 --here                ${say('resume it in this directory', 'このディレクトリーで再開する')}`,
      'fumi restore --undo',
      `fumi restore amazon-q:1b4e28ba --to talk.json      ${say('then in q chat:', 'その後、q chat で:')} /load talk.json`,
      `fumi restore amazon-q:1b4e28ba --install          ${say('then in the directory:', 'その後、元のディレクトリーで:')} q chat --resume`,
    )
    .note(
      '--install backs up what it replaces. It fails while the program is writing.',
      '--install で置き換える会話は、先にバックアップします。プログラムが書き込んでいる間は失敗します。',
    )
    .runWithApp(restore)
}

async function restore(app: App, name: string | undefined, options: Options): Promise<void> {
  if (options.undo) return undoRestore(app, name, options)
  const isInstalled = options.install === true || options.here === true
  if ((options.to === undefined) === !isInstalled || name === undefined)
    throw new AppError(
      'bad_usage',
      'Specify a session and a destination: --to <file>, --install to put it back where it was, or --here for this directory.',
      '会話と戻す先を指定してください。--to <ファイル>、元の場所なら --install、今のディレクトリーなら --here です。',
    )
  const directory = options.here ? process.cwd() : options.directory && resolve(options.directory)
  const to = options.to ?? '-'
  const backup = findBackup(name, app.backup.list())
  if (backup && isInstalled) return installBackup(app, backup, directory, options)
  if (backup) return writeRestored(app, backup, to, options)
  const found = await findBackedUpFile(app, name, options.copy)
  if (isInstalled) await installBackedUpFile(app, found, directory, options)
  else await writeBackedUpFile(app, found, to, options)
}

async function undoRestore(app: App, name: string | undefined, options: Options): Promise<void> {
  const session = name === undefined ? undefined : (await findIndexed(app, name)).id
  const { path, backup, session: id } = await app.backups.undoRestore(session)
  if (options.json) return writeOutJson({ undone: id, path, ...(backup !== undefined && { restored: backup }) })
  const what =
    backup === undefined
      ? say(`Removed ${path} again.`, `${path} を取り除きました。`)
      : say(`${path} is as it was before.`, `${path} を元に戻しました。`)
  await writeOut(`${what}\n`)
}

async function writeRestored(app: App, backup: BackedUpSession, to: string, options: Options): Promise<void> {
  const { volatile } = await app.backupService.agentOf(backup)
  const ready = volatile?.loadable(app.backup.bytes(backup.session))
  if (!ready)
    throw new AppError(
      'nothing_readable',
      `The backup of ${backup.session} is not in a form that its program can load.`,
      `${backup.session} のバックアップは、元のプログラムが読み込める形ではありません。`,
    )
  for (const repair of ready.repairs) await writeErr(`${say('repaired', '修正:')} ${repair}\n`)
  if (to === '-') return writeData(ready.text)
  saveNewFile(to, ready.text, options.force === true)
  if (options.json) return writeOutJson({ session: backup.session, file: resolve(to), repairs: ready.repairs })
  await writeOut(say(`Wrote ${backup.session} to ${to}.\n`, `${backup.session} を ${to} に書き込みました。\n`))
  const command = volatile?.loadCommand?.(to)
  await writeOut(
    command
      ? `${say('Load it with:', '読み込むには:')} ${formatShellLine(command)}\n`
      : say(
          `To load it, type in the chat: /load ${to}\n`,
          `読み込むには、会話の中で /load ${to} と入力してください。\n`,
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

async function installBackup(
  app: App,
  backup: BackedUpSession,
  directory: string | undefined,
  options: Options,
): Promise<void> {
  const done = await app.backupService.restore(backup, directory)
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

/** Undefined if no row matches. */
function findBackup(name: string, all: readonly BackedUpSession[]): BackedUpSession | undefined {
  const found = matchByName(name, all, ({ session, native_id }) => [session, native_id])
  if (found.length > 1)
    throw new AppError(
      'bad_usage',
      `${name} matches ${found.length} backups. Type more characters of the id.`,
      `${name} で始まるバックアップが ${found.length} 件あります。ID をもっと長く指定してください。`,
    )
  return found[0]
}

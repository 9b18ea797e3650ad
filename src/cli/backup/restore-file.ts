/** The part of `fumi restore` for sessions that are files. */
import { resolve } from 'node:path'
import { formatShellLine } from '../../agents/resume-command.ts'
import type { App, BackedUpFile } from '../../app.ts'
import { AtomicFile } from '../../lib/files/atomic-file.ts'
import { AppError } from '../../model/error.ts'
import type { Session } from '../../model/session.ts'
import { refuseOverwriting } from '../export-files.ts'
import { findIndexed } from '../find-session.ts'
import { say } from '../language.ts'
import { writeData, writeOut, writeOutJson } from '../output.ts'

export interface FoundFile {
  readonly session: Session
  readonly file: BackedUpFile
  /** All backups of the session, the one with the most content first. */
  readonly versions: readonly BackedUpFile[]
}

/** @param version the number of one backup */
export async function findBackedUpFile(app: App, name: string, version: string | undefined): Promise<FoundFile> {
  const session = await findIndexed(app, name)
  const versions = await app.backups.filesOf(session.id)
  const file = version === undefined ? versions[0] : versions.find(({ id }) => String(id) === version)
  if (file) return { session, file, versions }
  throw new AppError(
    'not_found',
    versions.length > 0
      ? `${session.id} has no backup ${version}. It has: ${versions.map(({ id }) => id).join(', ')}.`
      : `No backup of ${session.id}. Run fumi backup --status to see what is backed up, and fumi backup <path> to back up more.`,
    versions.length > 0
      ? `${session.id} に ${version} 番のバックアップはありません。あるのは ${versions.map(({ id }) => id).join('、')} です。`
      : `${session.id} のバックアップはありません。バックアップの範囲は fumi backup --status で見られ、fumi backup <パス> で増やせます。`,
  )
}

interface Options {
  readonly force?: boolean
  readonly json?: boolean
}

const versionsJson = (versions: readonly BackedUpFile[]): object[] =>
  versions.map(({ id, path, size, modified, first_seen }) => ({
    version: id,
    path,
    size,
    modified: new Date(modified).toISOString(),
    ...(first_seen !== undefined && { first_seen }),
  }))

export async function writeBackedUpFile(app: App, found: FoundFile, to: string, options: Options): Promise<void> {
  const { session, file, versions } = found
  const bytes = app.backup.files.read(file.id)
  if (to === '-') {
    for (const chunk of bytes) await writeData(chunk)
    return
  }
  refuseOverwriting(to, options.force === true)
  const target = new AtomicFile(to)
  try {
    for (const chunk of bytes) target.write(chunk)
    target.write('')
    target.commit()
  } finally {
    target.discard()
  }
  const { id, size } = file
  if (options.json)
    return writeOutJson({ session: session.id, file: resolve(to), version: id, size, versions: versionsJson(versions) })
  await writeOut(
    say(
      `Wrote ${file.path} of ${session.id} to ${to}\n`,
      `${session.id} の ${file.path} を ${to} に書き込みました。\n`,
    ),
  )
}

export async function installBackedUpFile(
  app: App,
  { session, file, versions }: FoundFile,
  directory: string | undefined,
  options: Options,
): Promise<void> {
  const done = await app.backups.installFile(session, file, {
    mayReplaceLonger: options.force === true,
    ...(directory !== undefined && { directory }),
  })
  const { path, backup, side_files, resume } = done
  if (options.json)
    return writeOutJson({
      session: session.id,
      path,
      version: file.id,
      side_files,
      ...(backup !== undefined && { backup }),
      ...(resume && { resume: formatShellLine(resume) }),
      versions: versionsJson(versions),
    })
  await writeOut(say(`Restored ${session.id} to ${path}\n`, `${session.id} を ${path} に戻しました。\n`))
  if (backup !== undefined)
    await writeOut(say(`What it replaced is saved: ${backup}\n`, `置き換えたファイルは保存してあります: ${backup}\n`))
  if (resume)
    await writeOut(say(`To resume it: ${formatShellLine(resume)}\n`, `再開するには: ${formatShellLine(resume)}\n`))
  await writeOut(say('To undo this: fumi restore --undo\n', '取り消すには: fumi restore --undo\n'))
}

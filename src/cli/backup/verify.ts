/** `fumi backup --verify`: checks every piece of the backup. */
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { formatBytes, formatCount } from '../view/table.ts'

export async function verifyBackup(app: App, json: boolean): Promise<void> {
  const showProgress = process.stderr.isTTY && !json
  const report = await app.backups.verify({
    onProgress: (done, all) => {
      if (showProgress) process.stderr.write(`\r${Math.round((100 * done) / Math.max(1, all))}% `)
    },
  })
  if (showProgress) process.stderr.write('\r\x1b[K')
  const { pieces, bytes, rows, files, repaired, damaged_pieces, damaged, database } = report
  const isSound = damaged_pieces === 0 && damaged.length === 0 && database.length === 0
  if (json) await writeOutJson({ ok: isSound, ...report })
  else {
    await writeOut(
      say(
        `${formatCount(pieces)} pieces (${formatBytes(bytes)}) of ${formatCount(rows)} rows and ${formatCount(files)} files checked.\n`,
        `${formatCount(rows)} 行と ${formatCount(files)} ファイルの断片 ${formatCount(pieces)} 個（${formatBytes(bytes)}）を確認しました。\n`,
      ),
    )
    if (repaired > 0)
      await writeOut(
        say(
          `Repaired from the original files: ${formatCount(repaired)}.\n`,
          `元のファイルから修復: ${formatCount(repaired)} 個\n`,
        ),
      )
    for (const line of database) await writeErr(`fumi: ${line}\n`)
    for (const one of damaged)
      await writeErr(`fumi: ${say('Damaged', '破損:')} ${one.kind === 'row' ? one.session : one.path}\n`)
  }
  if (!isSound)
    throw new AppError(
      'unusable_data',
      `${app.backup.path} is damaged: ${formatCount(damaged.length)} items cannot be restored completely. Check the disk, and copy the file from a backup of your own if you have one.`,
      `${app.backup.path} が壊れています。${formatCount(damaged.length)} 件は完全には戻せません。ディスクを確認し、このファイルの写しがあれば置き換えてください。`,
    )
  if (!json) await writeOut(say('Everything is intact.\n', '異常はありません。\n'))
}

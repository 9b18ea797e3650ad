/** `fumi backup --prune`: shows what would be dropped to make room, and drops it after confirmation. */
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { askYesNo } from '../trust-question.ts'
import { formatBytes, formatCount, renderTable, type TableColumn } from '../view/table.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('file', 'ファイル'), grows: true },
  { title: say('changed', '更新'), right: true },
  { title: say('stored', '保存量'), right: true },
  { title: say('original', '元のファイル') },
]

export async function pruneBackup(app: App, { yes, json }: { readonly yes: boolean; readonly json: boolean }) {
  const { steps, bytes, limit_bytes } = await app.backups.planPrune()
  if (json && !yes) return writeOutJson({ bytes, limit_bytes, drop: steps, dropped: false })
  if (steps.length === 0) {
    if (json) return writeOutJson({ bytes, limit_bytes, drop: [], dropped: false })
    if (limit_bytes !== undefined && bytes > limit_bytes)
      return writeOut(
        say(
          `Nothing to drop: the backup has ${formatBytes(bytes)}, above its limit of ${formatBytes(limit_bytes)}, but contains only rows of databases, which their program overwrites, and files that the settings ask for. Raise the limit: fumi config backup.limit 100GB\n`,
          `削除できるものはありません。バックアップは ${formatBytes(bytes)} で上限 ${formatBytes(limit_bytes)} を超えていますが、プログラムが上書きするデータベースの行と、設定で指定されたファイルだけです。上限を上げてください: fumi config backup.limit 100GB\n`,
        ),
      )
    return writeOut(
      say(
        `Nothing to drop: the backup has ${formatBytes(bytes)}, below its limit.\n`,
        `削除するものはありません。バックアップは ${formatBytes(bytes)} で、上限に達していません。\n`,
      ),
    )
  }
  if (!json) {
    const rows = steps.map(({ file, stored_bytes, loss }) => [
      file.path,
      new Date(file.modified).toISOString().slice(0, 10),
      formatBytes(stored_bytes),
      loss === 'on_disk' ? say('still there', '残っている') : say('gone', 'もうない'),
    ])
    await writeOut(renderTable(COLUMNS, rows))
  }
  const lost = steps.filter(({ loss }) => loss === 'only_here').length
  const question = say(
    `Drop ${formatCount(steps.length)} backups? ${formatCount(lost)} of them are the only copy. This cannot be undone. [y/N] `,
    `${formatCount(steps.length)} 件のバックアップを削除しますか？ うち ${formatCount(lost)} 件はほかに写しがありません。取り消せません。 [y/N] `,
  )
  if (!yes && !(await askYesNo('', question)))
    throw new AppError(
      'bad_usage',
      'Nothing was dropped. Pass --yes to skip the confirmation.',
      '何も削除していません。--yes を付けると確認を省きます。',
    )
  await app.backups.prune(steps)
  if (json) return writeOutJson({ bytes, limit_bytes, drop: steps, dropped: true })
  await writeOut(say(`Dropped ${formatCount(steps.length)}.\n`, `${formatCount(steps.length)} 件を削除しました。\n`))
}

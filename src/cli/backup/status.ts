/** `fumi backup --status`: what is backed up, why, since when, and what would be lost without it. */
import type { AgentBackupStatus, App } from '../../app.ts'
import { localize, say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { formatBytes, formatCount, plural, renderTable, type TableColumn } from '../view/table.ts'
import { readingWidth } from '../view/text-width.ts'
import { wrapText } from '../view/wrap-text.ts'

const COLUMNS: readonly TableColumn[] = [
  { title: say('agent', 'エージェント') },
  { title: say('backed up', 'バックアップ'), grows: true },
  { title: say('since', '開始'), isSpare: true },
  { title: say('items', '件数'), right: true },
  { title: say('originals', '元の大きさ'), right: true, isSpare: true },
  { title: say('stored', '保存量'), right: true },
  { title: say('only here', 'ここだけ'), right: true },
]

export async function printStatus(app: App, json: boolean): Promise<void> {
  const status = await app.backups.status()
  if (json) return writeOutJson({ ...status, agents: status.agents.map((one) => ({ ...one, reason: one.reason.en })) })
  const { agents, bytes, limit_bytes, without_backup, path } = status
  await writeOut(renderTable(COLUMNS, agents.map(statusCells)))
  const size = say(`${formatBytes(bytes)} in ${path}`, `${path} は ${formatBytes(bytes)}`)
  const limit =
    limit_bytes === undefined
      ? say('no limit', '上限なし')
      : say(`limit ${formatBytes(limit_bytes)}`, `上限 ${formatBytes(limit_bytes)}`)
  const wrap = (text: string): string => wrapText(text.trimEnd(), readingWidth(), '')
  await writeOut(wrap(say(`${size}, ${limit}.`, `${size}（${limit}）`)))
  if (without_backup > 0) await writeOut(wrap(fullBackupLine(without_backup)))
}

const statusCells = (status: AgentBackupStatus): readonly string[] => [
  status.label,
  localize(status.reason),
  status.since?.slice(0, 10) ?? '',
  formatCount(status.items),
  formatBytes(status.bytes),
  formatBytes(status.stored_bytes),
  status.only_here > 0 ? formatCount(status.only_here) : '',
]

export const fullBackupLine = (files: number): string =>
  say(
    `The backup has reached its limit. Not backed up: ${plural(files, 'changed file')}. Raise the limit (fumi config backup.limit 100GB), or see what can be dropped: fumi backup --prune.\n`,
    `バックアップが上限に達しました。変更のあった ${formatCount(files)} ファイルはバックアップされていません。上限を上げるか（fumi config backup.limit 100GB）、削除できるものを確認してください: fumi backup --prune\n`,
  )

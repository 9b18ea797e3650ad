/** Reports what is backed up of each agent, why, since when, and what would be lost without it. */
import type { AgentBackupStatus } from '../backup/backup-status.ts'
import { AppError } from '../model/error.ts'
import { phrase } from '../model/phrase.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  formatBytes,
  formatNumber,
  formatPlural,
  toFinding,
} from './finding.ts'

export const BACKUP_SUBJECT = 'backup'

export async function* checkBackup({ backup }: DoctorContext): AsyncGenerator<DoctorFinding> {
  try {
    const { agents, bytes, limit_bytes, without_backup } = await backup()
    for (const status of agents) yield agentFinding(status)
    if (without_backup > 0)
      yield toFinding(
        BACKUP_SUBJECT,
        'problem',
        phrase(
          `${formatPlural(without_backup, 'changed file')} not backed up: the backup has reached its limit of ${formatBytes(limit_bytes ?? 0)}`,
          `変更のあった ${formatNumber(without_backup)} ファイルがバックアップされていません。上限（${formatBytes(limit_bytes ?? 0)}）に達しています`,
        ),
        { bytes, limit_bytes: limit_bytes ?? null, without_backup },
        phrase(
          'Raise the limit (fumi config backup.limit 100GB), or see what can be dropped: fumi backup --prune',
          '上限を上げるか（fumi config backup.limit 100GB）、削除できるものを確認してください: fumi backup --prune',
        ),
      )
  } catch (error) {
    // The check of the database reports what is wrong with it.
    if (!(error instanceof AppError)) throw error
  }
}

function agentFinding(status: AgentBackupStatus): DoctorFinding {
  const { agent, label, kept, why, retention, reason, items, bytes, stored_bytes, since, only_here } = status
  const facts = {
    agent,
    kept,
    why,
    retention: retention.kind,
    items,
    bytes,
    stored_bytes,
    since: since ?? null,
    only_here,
    only_here_bytes: status.only_here_bytes,
  }
  const held = phrase(
    items === 0
      ? 'Nothing backed up yet.'
      : `${formatPlural(items, 'item')}, ${formatBytes(bytes)} stored in ${formatBytes(stored_bytes)}${since ? ` since ${since.slice(0, 10)}` : ''}${only_here > 0 ? `; ${formatNumber(only_here)} exist nowhere else` : ''}`,
    items === 0
      ? 'まだ何もありません'
      : `${formatNumber(items)} 件、${formatBytes(bytes)} を ${formatBytes(stored_bytes)} で保存${since ? `（${since.slice(0, 10)} から）` : ''}${only_here > 0 ? `。${formatNumber(only_here)} 件はほかにありません` : ''}`,
  )
  const what = phrase(`${label}: ${reason.en}. ${held.en}`, `${label}: ${reason.ja}。${held.ja}`)
  const isAtRisk = !kept && retention.kind !== 'keeps'
  if (!isAtRisk) return toFinding(BACKUP_SUBJECT, 'ok', what, facts)
  return toFinding(
    BACKUP_SUBJECT,
    'note',
    what,
    facts,
    phrase(
      `Its program overwrites or deletes conversations. To back them up: fumi config agents.${agent}.keep all`,
      `このプログラムは会話を上書きするか削除します。バックアップするには: fumi config agents.${agent}.keep all`,
    ),
  )
}

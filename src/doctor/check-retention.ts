/** Says which programs delete conversations, after how many days, and what would be lost without a backup. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '../agents/agent.ts'
import { isSourceEnabled } from '../agents/agent-roots.ts'
import { readBackedUpPaths } from '../backup/backup-overview.ts'
import { statOf } from '../lib/files/safe-fs.ts'
import { phrase } from '../model/phrase.ts'
import type { Retention } from '../model/retention.ts'
import { type DoctorContext, type DoctorFinding, formatNumber, formatPlural, toFinding } from './finding.ts'

export async function* checkRetention(context: DoctorContext): AsyncGenerator<DoctorFinding> {
  let backedUp: ReadonlySet<string> | undefined
  for (const agent of context.agents) {
    const retention = agent.retention?.(context.environment)
    const folders = context.roots.filter((root) => root.agent === agent && existsSync(root.path))
    if (retention?.kind !== 'deletes' || folders.length === 0) continue
    backedUp ??= readBackedUpPaths(join(context.directory, 'keep.sqlite3'))
    const paths = folders.map(({ path }) => path)
    const isOff = context.config.keep === 'none' || context.config.agents.get(agent.id)?.keep === 'none'
    yield toRetentionFinding(agent, retention, await countLogs(agent, paths, retention, backedUp, context), isOff)
  }
}

interface LogCounts {
  readonly logs: number
  /** Old enough to be deleted within a week. */
  readonly due: number
  /** Not in the backup. */
  readonly unkept: number
}

const DAY_MS = 86_400_000
const SOON_DAYS = 7

async function countLogs(
  agent: Agent,
  folders: readonly string[],
  { days }: Retention,
  backedUp: ReadonlySet<string>,
  { wishes }: DoctorContext,
): Promise<LogCounts> {
  const counts = { logs: 0, due: 0, unkept: 0 }
  const dueBefore = days === undefined ? 0 : Date.now() - (days - SOON_DAYS) * DAY_MS
  for (const folder of folders)
    for await (const source of agent.find(folder)) {
      if (!isSourceEnabled(source, wishes)) continue
      counts.logs++
      if ((statOf(source.path)?.mtimeMs ?? 0) < dueBefore) counts.due++
      if (!backedUp.has(source.path)) counts.unkept++
    }
  return counts
}

/** @param isOff the settings say that nothing is backed up */
function toRetentionFinding(
  agent: Agent,
  { days, setting }: Retention,
  counts: LogCounts,
  isOff: boolean,
): DoctorFinding {
  const { logs, due, unkept } = counts
  const facts = { deletes_after_days: days ?? null, setting: setting ?? null, logs, due, without_backup: unkept }
  const [from, fromJa] = setting === undefined ? ['', ''] : [` (${setting})`, `（${setting}）`]
  const rule =
    days === 0
      ? phrase(`${agent.label} keeps no conversations${from}`, `${agent.label} は会話を残しません${fromJa}`)
      : days === undefined
        ? phrase(`${agent.label} deletes old conversations`, `${agent.label} は古い会話を削除します`)
        : phrase(
            `${agent.label} deletes conversations that were not used for ${days} days${from}`,
            `${agent.label} は ${days} 日使われなかった会話を削除します${fromJa}`,
          )
  const soon = phrase(
    `${formatPlural(due, 'log')} within ${SOON_DAYS} days`,
    `${SOON_DAYS} 日以内に ${formatNumber(due)} 件`,
  )
  const what = phrase(
    `${rule.en}; ${soon.en}; ${unkept === 0 ? 'all are backed up' : `${formatNumber(unkept)} of ${formatNumber(logs)} are not backed up`}`,
    `${rule.ja}。${soon.ja}。${unkept === 0 ? 'すべてバックアップ済みです' : `${formatNumber(logs)} 件のうち ${formatNumber(unkept)} 件はバックアップされていません`}`,
  )
  if (unkept === 0) return toFinding(agent.id, 'ok', what, facts)
  return toFinding(
    agent.id,
    'note',
    what,
    facts,
    isOff
      ? phrase('To back them up: fumi config --unset keep', 'バックアップするには: fumi config --unset keep')
      : phrase('To back them up: fumi backup', 'バックアップするには: fumi backup'),
  )
}

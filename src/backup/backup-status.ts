/** What is backed up of each agent and why, with what the backup holds. */
import type { Agent } from '../agents/agent.ts'
import { agentIdsOf, agentName } from '../agents/agent-roots.ts'
import type { AgentId } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { Retention } from '../model/retention.ts'
import type { AgentBackup, BackupOverview } from './backup-overview.ts'
import type { BackupDecision, BackupPolicy, BackupReason } from './backup-policy.ts'

export interface AgentBackupStatus extends AgentBackup, BackupDecision {
  readonly label: string
  readonly retention: Retention
  /** Whether and why it is backed up. */
  readonly reason: Phrase
}

export interface BackupStatus {
  /** The database. */
  readonly path: string
  readonly bytes: number
  readonly limit_bytes?: number
  /** Number of files that are not backed up because the limit is reached. */
  readonly without_backup: number
  readonly agents: readonly AgentBackupStatus[]
}

const NOTHING: Omit<AgentBackup, 'agent'> = { items: 0, bytes: 0, stored_bytes: 0, only_here: 0, only_here_bytes: 0 }

/** Agents that run on this machine or have something in the backup. */
export function agentStatuses(
  agents: readonly Agent[],
  isUsed: (agent: Agent) => boolean,
  policy: BackupPolicy,
  overview: BackupOverview | undefined,
): readonly AgentBackupStatus[] {
  return agents.flatMap((agent) =>
    agentIdsOf(agent).flatMap((id): readonly AgentBackupStatus[] => {
      const held = overview?.agents.find((one) => one.agent === id)
      if (!held && !(id === agent.id && isUsed(agent))) return []
      const decision = policy.decide(agent, id)
      const retention = policy.retentionOf(agent)
      return [
        {
          ...(held ?? { agent: id, ...NOTHING }),
          ...decision,
          label: agentName(agent, id),
          retention,
          reason: reasonPhrase(decision, retention, id),
        },
      ]
    }),
  )
}

function reasonPhrase({ kept, why }: BackupDecision, { days, setting }: Retention, id: AgentId): Phrase {
  const because = REASONS[why]
  const age = why === 'deletes' && days !== undefined
  const en = `${kept ? 'yes' : 'no'}: ${because.en}${age ? ` after ${days} days` : ''}${why === 'deletes' && setting ? ` (${setting})` : ''}`
  const ja = `${kept ? 'する' : 'しない'}：${age ? `${days} 日後に` : ''}${because.ja}${why === 'deletes' && setting ? `（${setting}）` : ''}`
  return phrase(en.replace('<id>', id), ja.replace('<id>', id))
}

const REASONS: { readonly [why in BackupReason]: Phrase } = {
  overwrites: phrase('its program overwrites conversations', 'プログラムが会話を上書きする'),
  deletes: phrase('its program deletes conversations', 'プログラムが会話を削除する'),
  keeps: phrase('its program keeps conversations', 'プログラムが会話を残す'),
  setting: phrase('setting keep', '設定 keep による'),
  agent_setting: phrase('setting agents.<id>.keep', '設定 agents.<id>.keep による'),
  project_setting: phrase('setting backup.projects or backup.skip', '設定 backup.projects、backup.skip による'),
}

import type { AgentId, Instant, SessionId } from './ids.ts'

/** Header of a conversation. Extended while the log is read; later values replace earlier ones. */
export interface Session {
  readonly id: SessionId
  readonly agent: AgentId
  /** The agent's own id, or a hash of the first record if the log has none. */
  readonly native_id: string
  /** Hash of the first record, hex. Distinguishes sources that claim the same id. */
  readonly first_record: string
  readonly path: string
  readonly kind: 'conversation' | 'prompts'
  /** The first time that the log records. Null if it records none. */
  readonly started_at: Instant | null
  /** The last time, where not every time in the log is one of the conversation. */
  readonly last_at?: Instant
  /** A name given by a person, or to a sub-agent by its parent. */
  readonly title?: string
  /** The beginning of the first prompt. */
  readonly first_prompt?: string
  readonly cwd?: string
  readonly git?: { readonly commit_hash?: string; readonly branch?: string; readonly repository_url?: string }
  /** In order of first use. */
  readonly models: readonly string[]
  readonly agent_version?: string
  readonly originator?: string
  /** How the session was started: `cli`, `vscode`, `exec`, `subagent` … */
  readonly origin?: string
  readonly model_provider?: string
  readonly approval_policy?: unknown
  readonly sandbox_policy?: unknown
  /** The session from which this one was forked or spawned. */
  readonly parent?: SessionId
  /** `revert`: the same conversation, continued from an earlier point in another log; its parent is the first log. */
  readonly relation?: 'fork' | 'subagent' | 'revert'
  /** Id of the tool call in the parent's session that started this one. */
  readonly parent_call?: string
  readonly nickname?: string
  /** What the program's vendor charged, where the log counts credits instead of tokens. */
  readonly credits?: number
  /** Sessions whose headers were copied into this log. */
  readonly ancestors: readonly SessionId[]
}

const GIT_KEYS = ['commit_hash', 'branch', 'repository_url'] as const

/** Reads git values of a log; anything but text is ignored. */
export function parseGitInfo(record: { readonly [key: string]: unknown }): NonNullable<Session['git']> {
  const git: { [key in (typeof GIT_KEYS)[number]]?: string } = {}
  for (const key of GIT_KEYS) {
    const value = record[key]
    if (typeof value === 'string') git[key] = value
  }
  return git
}

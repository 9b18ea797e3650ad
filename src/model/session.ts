import type { AgentId, Instant, SessionId } from './ids.ts'

/** What is known of a conversation as a whole: its header. Grows while the log is read; later values win. */
export interface Session {
  readonly id: SessionId
  readonly agent: AgentId
  /** The agent's own id, or a hash of the first record where it gave none. */
  readonly native_id: string
  /** Hash of the first record, hex: tells two sources with the same id apart. */
  readonly first_record: string
  readonly path: string
  readonly kind: 'conversation' | 'prompts'
  readonly started_at: Instant
  /** When the last thing was said, where the log tells it without being read to its end. */
  readonly last_at?: Instant
  /** A name that somebody gave it. */
  readonly title?: string
  /** The beginning of the first thing that was asked. */
  readonly first_prompt?: string
  readonly cwd?: string
  readonly git?: { readonly commit_hash?: string; readonly branch?: string; readonly repository_url?: string }
  /** In order of first use. */
  readonly models: readonly string[]
  readonly agent_version?: string
  readonly originator?: string
  /** How it was started: `cli`, `vscode`, `exec`, `subagent` … */
  readonly origin?: string
  readonly model_provider?: string
  readonly approval_policy?: unknown
  readonly sandbox_policy?: unknown
  /** The conversation that this one was forked from or spawned by. */
  readonly parent?: SessionId
  readonly relation?: 'fork' | 'subagent'
  readonly nickname?: string
  /** Other sessions whose header was copied into this log. */
  readonly ancestors: readonly SessionId[]
}

const GIT_KEYS = ['commit_hash', 'branch', 'repository_url'] as const

/** What a log tells of a repository: texts and nothing else. */
export function parseGitInfo(record: { readonly [key: string]: unknown }): NonNullable<Session['git']> {
  const git: { [key in (typeof GIT_KEYS)[number]]?: string } = {}
  for (const key of GIT_KEYS) {
    const value = record[key]
    if (typeof value === 'string') git[key] = value
  }
  return git
}

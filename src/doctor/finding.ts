/** What an examination finds, and what it is told beforehand. */
import type { Agent, HostEnvironment } from '../agents/agent.ts'
import type { AgentSourceConfigs, ConfiguredRoot } from '../agents/agent-roots.ts'
import type { ConfigProblem, Configuration } from '../config/config.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

/** A note is worth knowing and needs nothing done. */
export type FindingState = 'ok' | 'note' | 'problem'

export interface DoctorFinding {
  /** What was looked at: `data directory`, `codex`, `keep` … */
  readonly about: string
  readonly state: FindingState
  readonly what: Phrase
  /** Absent where nothing is to be done. */
  readonly todo?: Phrase
  /** The same in numbers and names, for programs. */
  readonly facts: { readonly [name: string]: string | number | boolean | null }
}

export interface DoctorContext {
  readonly environment: HostEnvironment
  /** The data directory. */
  readonly directory: string
  readonly config: Configuration
  readonly priceProblems: readonly ConfigProblem[]
  readonly agents: readonly Agent[]
  readonly roots: readonly ConfiguredRoot[]
  readonly wishes: AgentSourceConfigs
  /** Those of other programs; they need not exist. */
  stores(): Promise<readonly { readonly agent: Agent; readonly store: string }[]>
}

/** The names of what is looked at; an agent has its own. */
export const SUBJECT_LABELS: { readonly [about: string]: Phrase } = {
  versions: phrase('versions', 'バージョン'),
  sqlite: phrase('sqlite', 'SQLite'),
  'data directory': phrase('data directory', 'データの場所'),
  disk: phrase('disk', 'ディスク'),
  settings: phrase('settings', '設定'),
  store: phrase('store', 'データベース'),
  index: phrase('index', '索引'),
  keep: phrase('keep', '控え'),
  marks: phrase('marks', '名前とタグ'),
  copies: phrase('copies', 'コピー'),
}

/** Throws nothing for what the world does. */
export type DoctorCheck = (patient: DoctorContext) => AsyncIterable<DoctorFinding> | Iterable<DoctorFinding>

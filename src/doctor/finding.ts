/** A finding of the health checks, the context of a check, and the number formats that findings use. */
import type { Agent, HostEnvironment } from '../agents/agent.ts'
import type { AgentSourceConfigs, ConfiguredRoot } from '../agents/agent-roots.ts'
import type { BackupStatus } from '../backup/backup-status.ts'
import type { ConfigProblem, Configuration } from '../config/config.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

/** A note needs no action. */
type FindingState = 'ok' | 'note' | 'problem'

export interface DoctorFinding {
  /** What was checked: `data directory`, `codex`, `keep`, … */
  readonly about: string
  readonly state: FindingState
  readonly what: Phrase
  readonly todo?: Phrase
  /** The same facts for programs. */
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
  /** What is backed up and why. Changes nothing. */
  backup(): Promise<BackupStatus>
  /** Databases of other programs; they may not exist. */
  stores(): Promise<readonly { readonly agent: Agent; readonly store: string }[]>
}

/** Labels of the subjects. Agents have their own labels. */
export const SUBJECT_LABELS: { readonly [about: string]: Phrase } = {
  agents: phrase('agents', 'エージェント'),
  versions: phrase('versions', 'バージョン'),
  sqlite: phrase('sqlite', 'SQLite'),
  'data directory': phrase('data directory', 'データの場所'),
  disk: phrase('disk', 'ディスク'),
  settings: phrase('settings', '設定'),
  store: phrase('store', 'データベース'),
  index: phrase('index', '索引'),
  keep: phrase('backup store', 'バックアップ'),
  backup: phrase('backup', '保存の範囲'),
  marks: phrase('annotations', '名前とタグ'),
}

/** @param todo what the user should do */
export const toFinding = (
  about: string,
  state: FindingState,
  what: Phrase,
  facts: DoctorFinding['facts'],
  todo?: Phrase,
): DoctorFinding => ({ about, state, what, ...(todo && { todo }), facts })

/** Failures of the disk or of a database become findings; a check never throws them. */
export type DoctorCheck = (context: DoctorContext) => AsyncIterable<DoctorFinding> | Iterable<DoctorFinding>

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export const formatNumber = (n: number): string => n.toLocaleString('en-US')

export const formatPlural = (n: number, singular: string, plural = `${singular}s`): string =>
  `${formatNumber(n)} ${n === 1 ? singular : plural}`

/** Splits a message into what is wrong, its first sentence, and what to do. */
export function splitAdvice({ en, ja }: Phrase): Pick<DoctorFinding, 'what' | 'todo'> {
  const [first = ''] = en.split(/(?<=[.:)]) (?=[A-Z`])/, 1)
  const [firstJa = ''] = ja.split(/(?<=。)/, 1)
  const rest = phrase(en.slice(first.length).trim(), ja.slice(firstJa.length))
  return { what: phrase(first, firstJa), ...(rest.en !== '' && { todo: rest }) }
}

/** A finding of the health checks, the context of a check, and the number formats that findings use. */
import type { Agent, HostEnvironment } from '../agents/agent.ts'
import type { AgentSourceConfigs, ConfiguredRoot } from '../agents/agent-roots.ts'
import type { ConfigProblem, Configuration } from '../config/config.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

/** A note is worth knowing and needs nothing done. */
type FindingState = 'ok' | 'note' | 'problem'

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

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

export const formatNumber = (n: number): string => n.toLocaleString('en-US')

export const formatPlural = (n: number, singular: string, plural = `${singular}s`): string =>
  `${formatNumber(n)} ${n === 1 ? singular : plural}`

interface Advice {
  readonly what: Phrase
  readonly todo?: Phrase
}

export function splitAdvice({ en, ja }: Phrase): Advice {
  const [first = ''] = en.split(/(?<=[.:)]) (?=[A-Z`])/, 1)
  const [firstJa = ''] = ja.split(/(?<=。)/, 1)
  const rest = phrase(en.slice(first.length).trim(), ja.slice(firstJa.length))
  return { what: phrase(first, firstJa), ...(rest.en !== '' && { todo: rest }) }
}

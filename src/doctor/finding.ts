/** What an examination finds, and what it is told beforehand. */
import type { Agent, Environment } from '../agents/agent.ts'
import type { Root, Wishes } from '../agents/roots.ts'
import type { ConfigProblem, Configuration } from '../config.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

/** A note is worth knowing and needs nothing done. */
export type State = 'ok' | 'note' | 'problem'

export interface Finding {
  /** What was looked at: `data directory`, `codex`, `keep` … */
  readonly about: string
  readonly state: State
  readonly what: Phrase
  /** Absent where nothing is to be done. */
  readonly todo?: Phrase
  /** The same in numbers and names, for programs. */
  readonly facts: { readonly [name: string]: string | number | boolean | null }
}

export interface Patient {
  readonly environment: Environment
  /** The data directory. */
  readonly directory: string
  readonly config: Configuration
  readonly priceProblems: readonly ConfigProblem[]
  readonly agents: readonly Agent[]
  readonly roots: readonly Root[]
  readonly wishes: Wishes
  /** Those of other programs; they need not exist. */
  stores(): Promise<readonly { readonly agent: Agent; readonly store: string }[]>
}

/** The names of what is looked at; an agent has its own. */
export const ABOUT: { readonly [about: string]: Phrase } = {
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
export type Check = (patient: Patient) => AsyncIterable<Finding> | Iterable<Finding>

/** What an examination finds, and what it is told beforehand. */
import type { Agent, Environment } from '../agents/agent.ts'
import type { Root, Wishes } from '../agents/roots.ts'
import type { ConfigProblem, Configuration } from '../config.ts'

/** A note is worth knowing and needs nothing done. */
export type State = 'ok' | 'note' | 'problem'

export interface Finding {
  /** What was looked at: `data directory`, `codex`, `keep` … */
  readonly about: string
  readonly state: State
  readonly what: string
  /** Absent where nothing is to be done. */
  readonly todo?: string
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

/** Throws nothing for what the world does. */
export type Check = (patient: Patient) => AsyncIterable<Finding> | Iterable<Finding>

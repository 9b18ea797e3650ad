/** What is wrong with a setting. All others hold nevertheless. */
import { type Phrase, phrase } from '../model/phrase.ts'

export interface ConfigProblem {
  /** The file, with line and column where they are known; the variable; or the option. */
  readonly where: string
  /** `agents.codex.roots[1]`; empty where it is about the whole. */
  readonly key: string
  /** Says what to do. */
  readonly reason: Phrase
}

export const describeConfigProblem = ({ where, key, reason }: ConfigProblem): Phrase =>
  phrase(`${where}: ${key === '' ? '' : `${key} `}${reason.en}`, `${where}: ${key === '' ? '' : `${key} `}${reason.ja}`)

/** Where secrets stand in sessions. Never contains a secret. */
import type { Role } from '../normalized.ts'
import type { Reply } from './envelope.ts'

/** The part of a message. */
export type SecretPlace = 'text' | 'arguments' | 'output' | 'metadata'

export interface FoundSecret {
  /** Id of the session. */
  readonly session: string
  /** Id of the message. */
  readonly message: string
  /** Line of the log, or entry of a document. */
  readonly line: number
  /** Role of the message. */
  readonly role: Role
  /** Where in the message. */
  readonly place: SecretPlace
  /** The rule that found it: `github`, `aws`, `setting` … */
  readonly kind: string
  /** Tells secrets of a session apart: `github-1`. */
  readonly name: string
  /** How often it stands in this part of the message. */
  readonly count: number
}

export type SecretsReply = Reply<{
  /** In the order of the messages. */
  readonly secrets: readonly FoundSecret[]
}>

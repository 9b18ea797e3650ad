/** A session as a whole, before its messages are read: turns, the kinds of all messages, hits of a find. */

import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { Reply } from './envelope.ts'

/** `GET /api/sessions/:id/turns`. */
export type TurnsReply = Reply<readonly TurnItem[], TurnsMeta>

export interface TurnsMeta {
  readonly revision: number
  readonly total_messages: number
  /** False: the log is long and is being read; `usage`, `cost` and `rolled_back` come with a later request. */
  readonly complete: boolean
}

export interface TurnItem {
  /** 1 is the first prompt's. */
  readonly number: number
  /** Its beginning, what programs added taken away; null when the source is gone. */
  readonly prompt: string | null
  readonly message_id: string
  /** Of the prompt among all messages of the session, from 0. */
  readonly offset: number
  /** Messages up to the next turn. */
  readonly message_count: number
  readonly started_at: string
  readonly ended_at: string
  readonly tool_count: number
  readonly error_count: number
  readonly usage: Usage | null
  readonly cost: Spent | null
  readonly rolled_back: boolean | null
  /** In a side conversation. */
  readonly tangent: boolean
}

/** `GET /api/sessions/:id/shape`: one letter for each message, so that a list knows its rows before it has them. */
export type ShapeReply = Reply<ShapeItem>

export interface ShapeItem {
  readonly revision: number
  readonly total: number
  /**
   * u prompt, a answer, c call, r result, e call or result or event with an error, i injected context, s system,
   * h header, m event that says something, x event that does not, d duplicate, p copied from another session.
   */
  readonly shape: string
}

/** `GET /api/sessions/:id/find?q=`: every message of the session that says it, in order. */
export type FindReply = Reply<readonly FindHit[], FindMeta>

export interface FindHit {
  readonly message_id: string
  readonly offset: number
}

export interface FindMeta {
  readonly revision: number
  readonly total: number
  /** False: there are more than 10,000, or some of it could not be looked through. */
  readonly complete: boolean
}

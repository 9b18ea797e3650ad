/** A session before its messages are read: turns, message kinds, and find. */

import type { Spent } from '../prices.ts'
import type { Usage } from '../usage.ts'
import type { Reply } from './envelope.ts'

/** `GET /api/sessions/:id/turns`: the outline. */
export type TurnsReply = Reply<readonly TurnItem[], TurnsMeta>

export interface TurnsMeta {
  /** Revision of the session. */
  readonly revision: number
  /** Number of messages. */
  readonly total_messages: number
  /** False while a long log is still being read. Repeat the request for `usage`, `cost` and `rolled_back`. */
  readonly complete: boolean
}

export interface TurnItem {
  /** Number of the turn, from 1. */
  readonly number: number
  /** Beginning of the prompt, without text that programs added. Null if the source is gone. */
  readonly prompt: string | null
  /** Id of the prompt. */
  readonly message_id: string
  /** Position of the prompt among all messages, from 0. */
  readonly offset: number
  /** Number of messages up to the next turn. */
  readonly message_count: number
  /** Time of the prompt. Null if the log records none. */
  readonly started_at: string | null
  /** Time of the last message. Null if the log records none. */
  readonly ended_at: string | null
  /** Number of tool calls. */
  readonly tool_count: number
  /** Number of failures. */
  readonly error_count: number
  /** Tokens. */
  readonly usage: Usage | null
  /** Cost at list prices. */
  readonly cost: Spent | null
  /** True if the turn was rolled back. */
  readonly rolled_back: boolean | null
  /** True if the turn is part of a tangent. */
  readonly tangent: boolean
}

/** `GET /api/sessions/:id/shape`: one letter for each message, so that a page can lay out rows before it loads them. */
export type ShapeReply = Reply<ShapeItem>

export interface ShapeItem {
  /** Revision of the session. */
  readonly revision: number
  /** Number of messages. */
  readonly total: number
  /**
   * u prompt, a answer, c call, r result, e call, result or event with an error, i injected context, s system, h
   * header, m event with text, x event without text, d duplicate, p copy from another session.
   */
  readonly shape: string
}

/** `GET /api/sessions/:id/find?q=`: all matching messages of the session, in order. */
export type FindReply = Reply<readonly FindHit[], FindMeta>

export interface FindHit {
  /** Id of the message. */
  readonly message_id: string
  /** Position among all messages, from 0. */
  readonly offset: number
}

export interface FindMeta {
  /** Revision of the session. */
  readonly revision: number
  /** Number of matches. */
  readonly total: number
  /** False if there are more than 10,000 matches, or part of the session could not be searched. */
  readonly complete: boolean
}

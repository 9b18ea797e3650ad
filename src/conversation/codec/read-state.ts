/** Reads a conversation state, or any one of its types, from text or from a parsed value. */

import { isJsonArray, type JsonValue, parseJson } from '../../lib/json/lossless.ts'
import type { SetAside } from '../record.ts'
import type { ConversationState } from '../state.ts'
import { type TangentTime, tangentTime } from '../zoned-time.ts'
import type { Codec } from './codec.ts'
import { addRepair, type ReadContext, type Repair, UnreadableError } from './read-context.ts'
import { conversationState } from './state.ts'

export interface ReadOptions {
  /**
   * `tolerant`, the usual mode, also loads what the original refuses, mends it, says so, and drops nothing.
   * `strict` reads as the original does, down to refusing what it refuses and dropping fields it does not know.
   */
  readonly mode?: 'tolerant' | 'strict'
  /** When a tangent began that does not say it. */
  readonly now?: TangentTime
}

export interface Read<T> {
  readonly ok: true
  readonly value: T
  /** Empty in strict mode, and for everything the original would have loaded. */
  readonly repairs: readonly Repair[]
}

export interface NotRead {
  readonly ok: false
  /** A sentence for a person, with the place. Never conversation text. */
  readonly reason: string
  /** `$.history[3].user` */
  readonly path: string
  /** The field or variant at fault, where there is one. */
  readonly field?: string
}

export function readState(source: string, options: ReadOptions = {}): Read<ConversationState> | NotRead {
  return readText(source, (value, context) => readStateOrHistory(value, context), options)
}

/** For a value that was parsed elsewhere. Its numbers are what that parser made of them. */
export function readStateValue(value: unknown, options: ReadOptions = {}): Read<ConversationState> | NotRead {
  return readValue(value, (given, context) => readStateOrHistory(given, context), options)
}

/** Any type of the model, by its codec. */
export function readAs<T>(codec: Codec<T>, source: string, options: ReadOptions = {}): Read<T> | NotRead {
  return readText(source, (value, context) => codec.read(value, context), options)
}

export function readValueAs<T>(codec: Codec<T>, value: unknown, options: ReadOptions = {}): Read<T> | NotRead {
  return readValue(value, (given, context) => codec.read(given, context), options)
}

const NO_DUPLICATES: ReadonlyMap<object, string> = new Map()
/** The original's parser stops at the 128th level. */
const MAX_STRICT_DEPTH = 127

function readText<T>(
  source: string,
  read: (value: JsonValue, context: ReadContext) => T,
  options: ReadOptions,
): Read<T> | NotRead {
  const strict = options.mode === 'strict'
  const parsed = parseJson(source, strict ? { duplicates: true, maxDepth: MAX_STRICT_DEPTH } : {})
  if (parsed.ok) return readValue(parsed.value, read, options, parsed.duplicates, /\\u[dD][89a-fA-F]/.test(source))
  const place = parsed.at === undefined ? '' : ` at character ${parsed.at + 1}`
  return { ok: false, reason: `${parsed.reason}${place}`, path: '$' }
}

function readValue<V, T>(
  value: V,
  read: (value: V, context: ReadContext) => T,
  options: ReadOptions,
  duplicates: ReadonlyMap<object, string> = NO_DUPLICATES,
  mayHoldLoneSurrogates = true,
): Read<T> | NotRead {
  const strict = options.mode === 'strict'
  const context: ReadContext = {
    strict,
    refusesLoneSurrogates: strict && mayHoldLoneSurrogates,
    path: [],
    leaf: undefined,
    repairs: [],
    setAside: [],
    duplicates,
    now: options.now ?? tangentTime(0n),
  }
  try {
    return { ok: true, value: read(value, context), repairs: context.repairs }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    const { path, field } = error
    return { ok: false, reason: `${error.message} at ${path}`, path, ...(field !== undefined && { field }) }
  }
}

function readStateOrHistory(value: unknown, context: ReadContext): ConversationState {
  if (context.strict) return conversationState.read(value, context)
  const state = conversationState.read(isBareHistory(value) ? wrapBareHistory(value, context) : value, context)
  return context.setAside.length === 0 ? state : withSetAside(state, context.setAside)
}

/** A state may be given as an array too, but then its first element is the conversation's id. */
function isBareHistory(value: unknown): value is readonly JsonValue[] {
  return isJsonArray(value) && typeof value[0] !== 'string'
}

function wrapBareHistory(history: readonly JsonValue[], context: ReadContext): JsonValue {
  addRepair(context, 'bare_history', 'a history without its state')
  return { history }
}

function withSetAside(state: ConversationState, found: readonly SetAside[]): ConversationState {
  const known = state.fumibako?.set_aside ?? []
  return { ...state, fumibako: { ...state.fumibako, set_aside: [...known, ...found] } }
}

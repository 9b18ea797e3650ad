/** Builds a session's header from the records that speak of the session as a whole. */
import { type Fields, fieldsOf, nonEmptyStringOf } from '../../../lib/unknown-values.ts'
import { type AgentId, type Instant, makeSessionId, type SessionId, toInstant } from '../../../model/ids.ts'
import { parseGitInfo, type Session } from '../../../model/session.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface SessionOrigin {
  readonly agent: AgentId
  readonly path: string
  /** Set when another source claims the same id. */
  readonly session?: string | undefined
  /** Hash of the first record. */
  readonly first: string
  readonly at: Instant
}

const MAX_PROMPT_LENGTH = 200

export class SessionHeader {
  readonly #session: Mutable<Session>
  readonly #models: Set<string>
  readonly #ancestors: Set<SessionId>
  /** Changed since it was last taken. */
  #dirty = true

  constructor(session: Session) {
    this.#session = { ...session }
    this.#models = new Set(session.models)
    this.#ancestors = new Set(session.ancestors)
  }

  /** The first record decides whose log this is. */
  static fromFirstRecord(record: Fields, kind: Session['kind'], sessionOrigin: SessionOrigin): SessionHeader {
    const native = nativeIdOf(record) ?? sessionOrigin.first
    return new SessionHeader({
      id: (sessionOrigin.session ?? makeSessionId(sessionOrigin.agent, native)) as SessionId,
      agent: sessionOrigin.agent,
      native_id: native,
      first_record: sessionOrigin.first,
      path: sessionOrigin.path,
      kind,
      started_at: toInstant(fieldsOf(record['payload'])?.['timestamp']) ?? sessionOrigin.at,
      models: [],
      ancestors: [],
    })
  }

  get id(): SessionId {
    return this.#session.id
  }

  get hasPrompt(): boolean {
    return this.#session.first_prompt !== undefined
  }

  owns(native: string): boolean {
    return this.#session.native_id === native
  }

  get parent(): SessionId | undefined {
    return this.#session.parent
  }

  /** A session's own description, first or repeated. Answers false when it speaks of another session. */
  describe(payload: Fields): boolean {
    const session = this.#session
    const native = nonEmptyStringOf(payload['id'])
    if (native !== undefined && native !== session.native_id) {
      this.#ancestors.add(makeSessionId(session.agent, native))
      this.#dirty = true
      return false
    }
    this.#set('cwd', nonEmptyStringOf(payload['cwd']))
    this.#set('originator', nonEmptyStringOf(payload['originator']))
    this.#set('agent_version', nonEmptyStringOf(payload['cli_version']))
    this.#set('origin', originOf(payload['source']))
    this.#set('model_provider', nonEmptyStringOf(payload['model_provider']))
    this.#set('nickname', nonEmptyStringOf(payload['agent_nickname']))
    const git = fieldsOf(payload['git'])
    if (git) this.#set('git', { ...session.git, ...parseGitInfo(git) })
    const parent = parentOf(payload)
    if (parent) {
      this.#set('parent', makeSessionId(session.agent, parent.native))
      this.#set('relation', parent.relation)
    }
    return true
  }

  /** What was in force for a turn. */
  turn(payload: Fields): void {
    this.model(nonEmptyStringOf(payload['model']))
    this.#set('cwd', this.#session.cwd ?? nonEmptyStringOf(payload['cwd']))
    this.#set('approval_policy', payload['approval_policy'])
    this.#set('sandbox_policy', payload['sandbox_policy'])
  }

  /** The directory that the model was told. */
  context(cwd: string | undefined): void {
    if (this.#session.cwd === undefined) this.#set('cwd', cwd)
  }

  model(name: string | undefined): void {
    if (name === undefined || this.#models.has(name)) return
    this.#models.add(name)
    this.#dirty = true
  }

  title(name: unknown): void {
    this.#set('title', nonEmptyStringOf(name))
  }

  prompt(text: string): void {
    if (this.#session.first_prompt === undefined && text.trim() !== '')
      this.#set('first_prompt', text.trim().slice(0, MAX_PROMPT_LENGTH))
  }

  /** The header, if it has changed since it was last asked for. */
  takeChanged(): Session | undefined {
    if (!this.#dirty) return undefined
    this.#dirty = false
    return this.save()
  }

  save(): Session {
    return { ...this.#session, models: [...this.#models], ancestors: [...this.#ancestors] }
  }

  #set<K extends keyof Session>(key: K, value: Session[K] | undefined): void {
    if (value === undefined || this.#session[key] === value) return
    this.#session[key] = value
    this.#dirty = true
  }
}

function nativeIdOf(record: Fields): string | undefined {
  if (record['type'] === 'session_meta') return nonEmptyStringOf(fieldsOf(record['payload'])?.['id'])
  if (record['type'] === 'thread.started') return nonEmptyStringOf(record['thread_id'])
  return record['type'] === undefined && record['payload'] === undefined && 'timestamp' in record
    ? nonEmptyStringOf(record['id'])
    : undefined
}

function parentOf(payload: Fields): { readonly native: string; readonly relation: 'fork' | 'subagent' } | undefined {
  const subagent = fieldsOf(payload['source'])?.['subagent']
  const spawned =
    nonEmptyStringOf(fieldsOf(fieldsOf(subagent)?.['thread_spawn'])?.['parent_thread_id']) ??
    nonEmptyStringOf(payload['parent_thread_id'])
  const forked = nonEmptyStringOf(payload['forked_from_id'])
  const native = spawned ?? forked
  if (native === undefined) return undefined
  return { native, relation: subagent !== undefined || spawned !== undefined ? 'subagent' : 'fork' }
}

/** A word, or an object with one key that is the word. */
function originOf(source: unknown): string | undefined {
  return nonEmptyStringOf(source) ?? Object.keys(fieldsOf(source) ?? {})[0]
}

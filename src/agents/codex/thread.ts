/** Whose log this is: the session's header, and which lines are copies of its parent's. */
import { isCompressed } from '../../lib/files/file-bytes.ts'
import { readHead } from '../../lib/files/safe-fs.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { validCountOf } from '../../model/checked-numbers.ts'
import { type Instant, makeSessionId, type SessionId, toInstant } from '../../model/ids.ts'
import type { Mutable } from '../../model/normalized.ts'
import { parseGitInfo, type Session } from '../../model/session.ts'
import type { Source } from '../agent.ts'
import { promptBeginning, sessionIdentity } from '../kit/place-message.ts'
import type { RecordTime } from '../kit/record-clock.ts'
import { CopyDetector, type SavedCopyDetector } from './copy-detector.ts'
import { findRolloutLog, findThreadLog, historyBaseOf } from './find.ts'
import type { RecordDraft } from './record/draft.ts'
import { type CodexRecordShape, isLegacyShape, parseRecord, parseRecords } from './record/records.ts'
import type { LogStart } from './record/tokens.ts'

export interface SavedThread {
  /** The header refers to another log for the beginning. */
  readonly refers: boolean
  readonly isOld: boolean
  readonly session: Session | null
  readonly replay: SavedCopyDetector | null
  readonly startOrdinal: number | null
}

/** Which session a record describes; undefined when it describes none. */
type DescribedSession = 'own' | 'other' | undefined

export class Thread {
  readonly #source: Source
  #header: SessionHeader | undefined
  #copies: CopyDetector | undefined
  #startOrdinal: number | undefined
  #refers: boolean
  /** The first record is one of a log before the envelope. */
  #isOld: boolean

  constructor(source: Source, saved?: SavedThread) {
    this.#source = source
    this.#header = saved?.session ? new SessionHeader(saved.session) : undefined
    this.#startOrdinal = saved?.startOrdinal ?? undefined
    this.#refers = saved?.refers ?? false
    this.#isOld = saved?.isOld ?? false
    if (saved?.replay) this.#copies = new CopyDetector(this.#parentLog(), this.#startOrdinal, saved.replay)
  }

  get header(): SessionHeader | undefined {
    return this.#header
  }

  get isOld(): boolean {
    return this.#isOld
  }

  /** For counting tokens. */
  get start(): LogStart {
    const header = this.#header
    const inherits = this.#refers || header?.parent !== undefined
    return { thread: header?.nativeId, inherits, refers: this.#refers }
  }

  /** The first record decides the session's identity. */
  begin(
    record: Fields,
    shape: CodexRecordShape,
    { at, basis }: Pick<RecordTime, 'at' | 'basis'>,
    bytes: Buffer | undefined,
  ): SessionHeader {
    const recorded = basis ? null : at
    if (this.#header) {
      if (recorded !== null) this.#header.start(recorded)
      return this.#header
    }
    const first = sha256(bytes ?? toJsonText(record)).slice(0, 16)
    this.#isOld = isLegacyShape(shape)
    const kind = shape === 'prompt' ? 'prompts' : 'conversation'
    const startedAt = toInstant(fieldsOf(record['payload'])?.['timestamp']) ?? recorded
    const identity = sessionIdentity(this.#source, nativeIdOf(record) ?? first, first, startedAt, kind)
    this.#header = new SessionHeader({ ...identity, models: [], ancestors: [] })
    return this.#header
  }

  describe(record: Fields, shape: CodexRecordShape): DescribedSession {
    const payload = shape === 'header' ? record : fieldsOf(record['payload'])
    if (!this.#header || !payload) return undefined
    switch (shape === 'header' ? 'session_meta' : stringOf(record['type'])) {
      case 'session_meta':
        if (!this.#header.describe(payload)) return 'other'
        if (fieldsOf(payload['history_base'])) this.#refers = true
        if (this.#header.isReverted) this.#header.prompt(firstPromptBefore(this.#source, payload['history_base']))
        this.#expectCopies(payload)
        return 'own'
      case 'turn_context':
        this.#header.turn(payload)
        return undefined
      case 'event_msg':
        if (payload['type'] === 'thread_name_updated') this.#header.title(payload['thread_name'])
        if (payload['type'] === 'thread_settings_applied') this.#header.model(settingsModel(payload))
        return undefined
      default:
        return undefined
    }
  }

  /** While copies may still come, each line is compared with the parent's. */
  get mayCopy(): boolean {
    return this.#copies !== undefined && !this.#copies.isOver
  }

  /** @param record the line's record, where it was parsed: a header of another session begins copies */
  isCopy(bytes: Buffer | undefined, at: number, ordinal: number | undefined, record: Fields | undefined): boolean {
    if (!this.#copies || this.#copies.isOver || !bytes) return false
    const native =
      record?.['type'] === 'session_meta' ? nonEmptyStringOf(fieldsOf(record['payload'])?.['id']) : undefined
    const foreignHeader = native !== undefined && !this.#header?.owns(native)
    return this.#copies.isCopy({ bytes, at, ordinal, foreignHeader })
  }

  close(): void {
    this.#copies?.close()
  }

  save(): SavedThread {
    return {
      refers: this.#refers,
      isOld: this.#isOld,
      session: this.#header?.save() ?? null,
      replay: this.#copies?.save() ?? null,
      startOrdinal: this.#startOrdinal ?? null,
    }
  }

  #expectCopies(payload: Fields): void {
    if (this.#header?.parent === undefined || this.#copies) return
    this.#startOrdinal = validCountOf(payload['subagent_history_start_ordinal'])
    this.#copies = new CopyDetector(this.#parentLog(), this.#startOrdinal)
  }

  #parentLog(): string | undefined {
    const native = this.#header?.parent?.slice(this.#source.agent.length + 1)
    return native === undefined ? undefined : findThreadLog(this.#source, native)
  }
}

export const settingsModel = (payload: Fields): string | undefined =>
  nonEmptyStringOf(fieldsOf(payload['thread_settings'])?.['model'])

class SessionHeader {
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

  get id(): SessionId {
    return this.#session.id
  }

  get nativeId(): string {
    return this.#session.native_id
  }

  get hasPrompt(): boolean {
    return this.#session.first_prompt !== undefined
  }

  get isReverted(): boolean {
    return this.#session.relation === 'revert'
  }

  owns(native: string): boolean {
    return this.#session.native_id === native
  }

  /** The session whose lines and totals this log may repeat. The log of a reverted thread repeats nothing. */
  get parent(): SessionId | undefined {
    return this.#session.relation === 'revert' ? undefined : this.#session.parent
  }

  /** Adds the session's own description. Returns false when it describes another session. */
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
    if (session.title === undefined) this.title(taskName(payload['agent_path']))
    const git = fieldsOf(payload['git'])
    if (git) this.#set('git', { ...session.git, ...parseGitInfo(git) })
    const parent = parentOf(payload, session.native_id)
    if (parent) {
      this.#set('parent', makeSessionId(session.agent, parent.native))
      this.#set('relation', parent.relation)
    }
    return true
  }

  turn(payload: Fields): void {
    this.model(nonEmptyStringOf(payload['model']))
    this.#set('cwd', this.#session.cwd ?? nonEmptyStringOf(payload['cwd']))
    this.#set('approval_policy', payload['approval_policy'])
    this.#set('sandbox_policy', payload['sandbox_policy'])
  }

  /** The directory in the context given to the model. */
  context(cwd: string | undefined): void {
    if (this.#session.cwd === undefined) this.#set('cwd', cwd)
  }

  model(name: string | undefined): void {
    if (name === undefined || this.#models.has(name)) return
    this.#models.add(name)
    this.#dirty = true
  }

  /** The first time in a log whose first records have none. */
  start(at: Instant): void {
    if (this.#session.started_at === null) this.#set('started_at', at)
  }

  title(name: unknown): void {
    this.#set('title', nonEmptyStringOf(name))
  }

  prompt(text: string | undefined): void {
    if (text !== undefined && !this.hasPrompt) this.#set('first_prompt', promptBeginning(text))
  }

  /** The header, if it changed since the last call. */
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

/** A sub-agent's path ends with the name that its parent gave the task: `/root/count_beans`. */
const taskName = (path: unknown): string | undefined => stringOf(path)?.split('/').at(-1)

function nativeIdOf(record: Fields): string | undefined {
  if (record['type'] === 'session_meta') return nonEmptyStringOf(fieldsOf(record['payload'])?.['id'])
  if (record['type'] === 'thread.started') return nonEmptyStringOf(record['thread_id'])
  const isHeader = 'timestamp' in record || 'instructions' in record
  return record['type'] === undefined && record['payload'] === undefined && isHeader
    ? nonEmptyStringOf(record['id'])
    : undefined
}

type Relation = NonNullable<Session['relation']>

/** @param own the thread's id. A log that continues it from an earlier point names no other thread as its parent. */
function parentOf(payload: Fields, own: string): { readonly native: string; readonly relation: Relation } | undefined {
  const subagent = fieldsOf(payload['source'])?.['subagent']
  const spawned =
    nonEmptyStringOf(fieldsOf(fieldsOf(subagent)?.['thread_spawn'])?.['parent_thread_id']) ??
    nonEmptyStringOf(payload['parent_thread_id'])
  const forked = nonEmptyStringOf(payload['forked_from_id'])
  const native = spawned ?? forked
  if (native === undefined)
    return payload['id'] === own && fieldsOf(payload['history_base']) ? { native: own, relation: 'revert' } : undefined
  return { native, relation: subagent !== undefined || spawned !== undefined ? 'subagent' : 'fork' }
}

/** The first prompt is looked for in so many bytes of the log that contains the beginning. */
const BEGINNING_BYTES = 1_000_000

/** The first prompt of a conversation whose beginning is in another log. */
function firstPromptBefore(source: Source, base: unknown): string | undefined {
  const found = historyBaseOf(base)
  const path = found && findRolloutLog(source, found.rollout)
  if (!found || path === undefined || isCompressed(path)) return undefined
  const lines = Buffer.from(readHead(path, BEGINNING_BYTES)).toString().split('\n')
  for (const line of lines) {
    const [value] = parseRecords(line, true).records
    const { record, drafts } = parseRecord(value)
    if ((validCountOf(record['ordinal']) ?? 0) >= found.end) return undefined
    for (const draft of drafts)
      if (draft.role === 'user' && !draft.metadata?.injected && typedText(draft) !== '') return typedText(draft)
  }
  return undefined
}

/** A word, or an object with one key that is the word. */
function originOf(source: unknown): string | undefined {
  return nonEmptyStringOf(source) ?? Object.keys(fieldsOf(source) ?? {})[0]
}

/** Logs before the envelope name their directory only in the context given to the model. */
export const cwdIn = (draft: RecordDraft): string | undefined =>
  /<cwd>([^<]+)<\/cwd>/.exec(draft.segments[0]?.text?.slice(0, 2000) ?? '')?.[1]

/** What a prompt says apart from what the program put before it. */
export function typedText(draft: RecordDraft): string {
  for (const { text, annotations } of draft.segments) {
    if (text === undefined) continue
    const injected = annotations?.find((mark) => mark.kind === 'injected')
    const typed = injected ? text.slice(injected.end) : text
    if (typed.trim() !== '') return typed
  }
  return ''
}

/** Sends new and grown sessions to the server of the team. What was interrupted continues where it stopped. */
import type { App, SessionEntry } from '../../app.ts'
import { debug } from '../../lib/logger.ts'
import { AppError } from '../../model/error.ts'
import type { SessionId } from '../../model/ids.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import type { Redaction } from '../../redact/placeholders.ts'
import { CHECKPOINT_MESSAGES } from '../hash-chain.ts'
import { type BeginReply, SESSION_ID, teamSessionId } from '../protocol.ts'
import { readConsent, readSent, type SentSession, type SharedWith, saveSent, sharingOf } from './membership.ts'
import { keyOfSession, type PreparedSession, prepareSession } from './prepare-session.ts'
import { type TeamClient, TeamRefusal } from './team-client.ts'

export type PushOutcome =
  | { readonly kind: 'sent'; readonly messages: number; readonly isNew: boolean }
  | { readonly kind: 'unchanged' }
  /** The user withdrew it from the team. */
  | { readonly kind: 'withdrawn' }
  /** Somebody else shared the same session, or another machine has more of it. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly reason: Phrase }

export interface PushedSession {
  readonly id: SessionId
  readonly title: string | undefined
  readonly project: string | undefined
  readonly shared: SharedWith
  readonly outcome: PushOutcome
  readonly redactions: readonly Redaction[]
}

export interface PushOptions {
  readonly signal?: AbortSignal | undefined
  readonly onSession?: (pushed: PushedSession) => void | Promise<void>
  /** Only these. */
  readonly only?: ReadonlySet<string>
}

/** Of one request. */
const MAX_CHUNK_BYTES = 1_000_000
/** A session that was written to now is sent when it rests, or after this many rounds. */
const MAX_RESTARTS = 4
const MAX_SESSIONS = 1_000_000

export interface SharedSession {
  readonly entry: SessionEntry
  readonly sharing: SharedWith
}

/** Sessions that the user shares, newest first. */
export function sharedSessions(app: App, only?: ReadonlySet<string>): readonly SharedSession[] {
  const consent = readConsent(app.directory)
  if (consent.projects.size + consent.sessions.size === 0) return []
  return app.list({ kind: 'conversation', children: 'all', limit: MAX_SESSIONS }).sessions.flatMap((entry) => {
    const sharing = only && !only.has(entry.id) ? undefined : sharingOf(consent, entry.id, entry.project)
    return sharing ? [{ entry, sharing }] : []
  })
}

/** Those of which the server has not everything, as far as this device knows. */
export function unsentSessions(app: App, only?: ReadonlySet<string>): readonly SharedSession[] {
  const sent = readSent(app.directory)
  const epoch = app.index.epoch ?? ''
  return sharedSessions(app, only).filter(({ entry, sharing }) => !isSent(sent.get(entry.id), entry, sharing, epoch))
}

const isSent = (
  known: SentSession | undefined,
  { revision }: SessionEntry,
  sharing: SharedWith,
  epoch: string,
): boolean => known?.epoch === epoch && known.revision === revision && known.shared === describeSharing(sharing)

const describeSharing = ({ shared, people }: SharedWith): string => [shared, ...people].join(' ')

/** One session after the other. A session that fails does not stop the others; a server that does not answer does. */
export async function pushSessions(app: App, client: TeamClient, options: PushOptions = {}): Promise<void> {
  const { signal, onSession, only } = options
  const sent = readSent(app.directory)
  const epoch = app.index.epoch ?? ''
  for (const { entry, sharing } of unsentSessions(app, only)) {
    if (signal?.aborted) return
    let prepared: PreparedSession | undefined
    let outcome: PushOutcome
    try {
      prepared = await prepareSession(app, entry, sharing)
      outcome = await sendSession(client, prepared, sent.get(entry.id))
    } catch (error) {
      if (error instanceof AppError && error.code === 'busy') {
        prepared?.close()
        throw error
      }
      // A refusal of the whole device is no property of the session.
      if (error instanceof TeamRefusal && error.status === 401) throw error
      outcome = { kind: 'failed', reason: reasonOf(error) }
    }
    prepared?.close()
    if (prepared && outcome.kind !== 'failed') {
      sent.set(entry.id, {
        key: prepared.key,
        epoch,
        revision: prepared.revision,
        shared: describeSharing(sharing),
        stored: prepared.lines.length,
      })
      saveSent(app.directory, sent)
    }
    await onSession?.({
      id: entry.id,
      title: entry.title,
      project: entry.project,
      shared: sharing,
      outcome,
      redactions: prepared?.redaction.redactions ?? [],
    })
  }
}

/** Errors never contain text of a conversation. */
function reasonOf(error: unknown): Phrase {
  if (error instanceof AppError) return error.phrase
  debug(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return phrase(
    'It could not be redacted, so nothing was sent. Run with --verbose for details.',
    '秘密情報を取り除けなかったため、何も送っていません。詳しくは --verbose を付けて実行してください。',
  )
}

async function sendSession(
  client: TeamClient,
  prepared: PreparedSession,
  known: SentSession | undefined,
): Promise<PushOutcome> {
  for (let attempt = 0; ; attempt++) {
    const begun = await client.post<BeginReply>('/sessions', prepared.begin)
    if (begun.state === 'withdrawn') return { kind: 'withdrawn' }
    if (begun.state === 'other_person') return { kind: 'elsewhere' }
    try {
      return await sendFrom(client, prepared, begun, known)
    } catch (error) {
      // Another device of the same person was faster.
      if (!(error instanceof TeamRefusal && error.reason === 'conflict') || attempt >= MAX_RESTARTS) throw error
    }
  }
}

async function sendFrom(
  client: TeamClient,
  prepared: PreparedSession,
  begun: BeginReply,
  known: SentSession | undefined,
): Promise<PushOutcome> {
  const { key, lines, finish } = prepared
  const path = `/sessions/${key}`
  let { generation, stored } = begun
  const isUsageOnly = prepared.begin.shared === 'usage'
  if (!isUsageOnly) {
    const start = startOf(prepared, begun, known?.key === key)
    if (start === 'elsewhere') return { kind: 'elsewhere' }
    if (start < stored) {
      const replaced = await client.post<{ stored: number; generation: number }>(`${path}/replace`, {
        generation,
        keep: start,
      })
      generation = replaced.generation
    }
    stored = start
    for (let from = stored; from < lines.length; ) {
      const chunk = takeChunk(prepared, from)
      const head = JSON.stringify({ generation, from, ...prepared.chainAt(from) })
      await client.postLines(`${path}/messages`, [head, ...chunk])
      from += chunk.length
    }
  }
  await client.post(`${path}/finish`, { ...finish, generation })
  return { kind: 'sent', messages: lines.length - stored, isNew: begun.stored === 0 && !begun.is_complete }
}

/** Where to continue: after what both sides have. */
function startOf({ chainAt, lines }: PreparedSession, begun: BeginReply, isOurs: boolean): number | 'elsewhere' {
  if (chainAt(begun.stored)?.texts === begun.texts) return begun.stored
  const known = [...begun.checkpoints, { stored: begun.stored, ids: begun.ids }]
  const isSameLog = known.every(({ stored, ids }) => stored > lines.length || chainAt(stored)?.ids === ids)
  // Another machine has at least as much of it.
  if (!isOurs && isSameLog && begun.stored >= lines.length) return 'elsewhere'
  const equal = begun.checkpoints.filter(({ stored, texts }) => chainAt(stored)?.texts === texts)
  return Math.max(0, ...equal.map(({ stored }) => stored))
}

/** Ends at a checkpoint at the latest. */
function takeChunk({ lines }: PreparedSession, from: number): readonly string[] {
  const chunk: string[] = []
  const end = Math.min(lines.length, from - (from % CHECKPOINT_MESSAGES) + CHECKPOINT_MESSAGES)
  for (let at = from, bytes = 0; at < end && (at === from || bytes < MAX_CHUNK_BYTES); at++) {
    const line = lines.at(at) ?? Buffer.alloc(0)
    bytes += line.length
    chunk.push(line.toString('utf8'))
  }
  return chunk
}

/** What `fumi team withdraw` and `share --off` do: the server erases it. */
export async function withdrawSessions(
  app: App,
  client: TeamClient,
  ids: readonly string[],
): Promise<readonly string[]> {
  const sent = readSent(app.directory)
  const withdrawn: string[] = []
  for (const id of ids) {
    const key = SESSION_ID.exec(id)?.[1] ?? sent.get(id)?.key ?? keyOfSession(app, id as SessionId)
    if (key === undefined) continue
    for (const [one, known] of sent) if (known.key === key) sent.delete(one)
    try {
      await client.post(`/sessions/${key}/withdraw`)
      withdrawn.push(teamSessionId(key))
    } catch (error) {
      if (!(error instanceof TeamRefusal && error.status === 404)) throw error
    }
  }
  saveSent(app.directory, sent)
  return withdrawn
}

/** What `fumi team push --again` does first: sessions that were withdrawn may be sent. */
export async function allowAgain(app: App, client: TeamClient, ids: ReadonlySet<string>): Promise<void> {
  const sent = readSent(app.directory)
  for (const id of ids) {
    await client.post(`/sessions/${keyOfSession(app, id as SessionId)}/allow`)
    sent.delete(id)
  }
  saveSent(app.directory, sent)
}

/** Sessions as the API returns them: one line of a list, and everything about one session except its messages. */
import { agentName } from '../../agents/agent-roots.ts'
import { type RecordedState, readRecordedState } from '../../agents/recorded-state.ts'
import { formatShellLine, whyNotResumable } from '../../agents/resume-command.ts'
import type { App, SessionAnnotation, SessionEntry } from '../../app.ts'
import { sanitizeText } from '../../lib/markup/html.ts'
import type { CheckpointItem, MarkItem, SessionDetail, SessionItem } from '../../model/api/session.ts'
import { type Instant, type SessionId, toInstant } from '../../model/ids.ts'
import type { NormalizedMessage, Role } from '../../model/normalized.ts'
import { NO_COST } from '../../model/prices.ts'
import type { Session } from '../../model/session.ts'
import type { ServerContext } from '../context.ts'

/** A session counts as live for this long after its last record. */
const LIVE_WITHIN_MS = 90_000

export async function toSessionItems(app: App, entries: readonly SessionEntry[]): Promise<readonly SessionItem[]> {
  if (entries.length === 0) return []
  const ids = entries.map(({ id }) => id)
  const details = app.index.details(ids)
  const spent = (await app.totals({ ids, kind: 'any' }))?.cost.by_session ?? {}
  const marks = new Map(app.annotations.list().map((mark) => [mark.session, mark]))
  const now = Date.now()
  return entries.map((entry) => {
    const { header, turns = 0, errors = 0, issues = 0 } = details.get(entry.id) ?? {}
    const mark = toMarkItem(marks.get(entry.id))
    const gone = entry.gone && !entry.kept
    const kept = entry.kept && !isInStore(app, entry)
    return {
      id: entry.id,
      agent: entry.agent,
      native_id: entry.native_id,
      kind: entry.kind,
      title: firstName(mark.name, entry.title, header?.first_prompt),
      first_prompt: header?.first_prompt ?? null,
      cwd: entry.project ?? null,
      branch: header?.git?.branch ?? null,
      models: entry.models,
      created_at: entry.started_at,
      last_at: entry.last_at,
      duration_seconds: secondsBetween(entry.started_at, entry.last_at),
      message_count: entry.messages,
      turn_count: turns,
      tool_count: entry.tools,
      error_count: errors,
      usage: entry.usage,
      estimate: entry.estimate ?? null,
      credits: entry.credits ?? null,
      cost: spent[entry.id] ?? NO_COST,
      live: !gone && !kept && isWithin(entry.last_at, now),
      issue_count: issues,
      parent: entry.parent ?? null,
      relation: entry.relation ?? null,
      child_count: entry.children,
      kept,
      gone,
      indexed: entry.indexed,
      path: entry.path,
      filesize_bytes: entry.size,
      revision: entry.revision,
      mark,
    }
  })
}

/** A row that its program overwrites is read from the backup while it exists, because that has every entry. */
function isInStore(app: App, { id }: SessionEntry): boolean {
  const backup = app.backup.get(id)
  return backup !== undefined && backup.ended_at === undefined
}

const secondsBetween = (first: Instant | null, last: Instant | null): number | null =>
  first === null || last === null ? null : Math.max(0, Math.round((Date.parse(last) - Date.parse(first)) / 1000))

const isWithin = (at: Instant | null, now: number): boolean =>
  at !== null && Math.abs(now - Date.parse(at)) < LIVE_WITHIN_MS

const firstName = (...names: readonly (string | null | undefined)[]): string | null =>
  names.find((name) => name !== null && name !== undefined) ?? null

export function readSessionTitles(app: App, ids: ReadonlySet<SessionId>): ReadonlyMap<SessionId, string | null> {
  const details = app.index.details([...ids])
  const names = new Map(app.annotations.list().map(({ session, name }) => [session, name]))
  return new Map(
    Array.from(ids, (id) => [
      id,
      firstName(names.get(id), app.session(id)?.title, details.get(id)?.header?.first_prompt),
    ]),
  )
}

export const toMarkItem = (mark: SessionAnnotation | undefined): MarkItem => ({
  name: mark?.name ?? null,
  starred: mark?.starred ?? false,
  tags: mark?.tags ?? [],
  note: mark?.note ?? null,
})

const MAX_ISSUES = 100
const MAX_CHILDREN = 200
const MAX_MESSAGES = 1000
const ROLES_BY_LETTER: { readonly [letter: string]: Role } = {
  u: 'user',
  a: 'assistant',
  c: 'tool',
  r: 'tool',
  s: 'system',
}

export async function readSessionDetail(
  context: ServerContext,
  entry: SessionEntry,
  variant: 'original' | 'sanitized' | undefined,
): Promise<SessionDetail> {
  const { app } = context
  const [item] = await toSessionItems(app, [entry])
  const header = app.index.header(entry.id)
  if (!item || !header) throw new Error(`${entry.id} is in the index and has no header`)
  const { total, shape } = context.layouts.of(entry)
  const children = app.list({ children: { of: entry.id }, limit: MAX_CHILDREN, kind: 'any' }).sessions
  const state = await readState(app, entry)
  const log = await app.logOf(entry.id)
  return {
    ...item,
    agent_label: log ? agentName(log.agent, entry.agent) : entry.agent,
    row_key: entry.key ?? null,
    header,
    record_count: total,
    speaker_roles: [
      ...new Set(Array.from(new Set(shape), (letter) => ROLES_BY_LETTER[letter]).filter((role) => role !== undefined)),
    ],
    issues: app.index
      .issues(entry.id, MAX_ISSUES)
      .map(({ code, reason, line }) => ({ code, reason, line: line ?? null })),
    children: await toSessionItems(app, children),
    ...(await resumeFields(app, entry, header)),
    has_state: state !== undefined,
    checkpoints: toCheckpointItems(state),
    ...(variant && { messages: await readFirstMessages(app, entry, variant) }),
  }
}

/** The state of a conversation, for agents that record one. */
export async function readState(app: App, { id }: SessionEntry): Promise<RecordedState | undefined> {
  const [first] = await app.messages(id, { limit: 1 })
  return first?.kind === 'body' ? readRecordedState(first.message) : undefined
}

export const toCheckpointItems = (state: RecordedState | undefined): readonly CheckpointItem[] =>
  (state?.checkpoints ?? []).map(({ tag, time, description, entries, files }) => ({
    tag,
    at: toInstant(time) ?? '',
    description: description ?? null,
    entries: entries ?? null,
    files: files ?? null,
  }))

async function readFirstMessages(
  app: App,
  { id }: SessionEntry,
  variant: 'original' | 'sanitized',
): Promise<readonly NormalizedMessage[]> {
  const bodies = await app.messages(id, { limit: MAX_MESSAGES })
  return bodies.flatMap((body) => (body.kind === 'body' ? toSpecMessage(body.message, variant) : []))
}

/** The command that resumes a session, or why there is none. */
async function resumeFields(
  app: App,
  entry: SessionEntry,
  session: Session,
): Promise<Pick<SessionDetail, 'resume' | 'resume_reason'>> {
  const log = await app.logOf(entry.id)
  const isEnded = entry.kept && !isInStore(app, entry)
  const ended = isEnded ? (app.backup.get(entry.id)?.ended_how ?? 'gone') : undefined
  const reason = log
    ? whyNotResumable(log.agent, session, ended)?.en
    : `The log of ${session.id} is gone: ${session.path}.`
  if (reason !== undefined || !log?.agent.resume) return { resume: null, resume_reason: reason ?? null }
  const command = log.agent.resume(session)
  return { resume: { command: formatShellLine(command), cwd: command.cwd ?? null }, resume_reason: null }
}

/** `sanitized` replaces each text by HTML of the allowed tags, and drops annotations: their offsets are those of the original text. */
function toSpecMessage(message: NormalizedMessage, variant: 'original' | 'sanitized'): NormalizedMessage {
  if (variant === 'original') return message
  const segments = message.segments.map(({ annotations: _, ...segment }) =>
    segment.text === undefined ? segment : { ...segment, text: sanitizeText(segment.text) },
  )
  return { ...message, segments }
}

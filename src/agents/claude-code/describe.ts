/** The session's header, as its records and its place describe it. */
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { makeSessionId, toInstant } from '../../model/ids.ts'
import type { Mutable } from '../../model/normalized.ts'
import type { Session } from '../../model/session.ts'
import type { Source } from '../agent.ts'
import { originalPathOf } from '../kit/place-message.ts'
import { familyOf } from './copies.ts'
import { MAX_SUMMARIES, type Memory, noteTime, pushBounded } from './memory.ts'
import { isAgentLog, nativeIdOf, parentInPath } from './paths.ts'
import { messageOf, modelIn, typeOf } from './record/drafts.ts'
import { isSilentRecord } from './relate.ts'

export function describe(session: Session, record: Fields, memory: Memory, source: Source): Session {
  const type = typeOf(record)
  if (type === null && 'display' in record)
    return session.kind === 'prompts' ? session : { ...session, kind: 'prompts' }
  const change: Mutable<Partial<Session>> = {}
  const at = toInstant(record['timestamp'])
  if (!memory.begun || !isSilentRecord(record)) addChainFields(change, session, record)
  if (!memory.begun && at !== undefined && 'uuid' in record) {
    memory.begun = true
    noteTime(memory, at)
    Object.assign(change, lineageOf(record, memory, source))
  }
  const model = type === 'assistant' ? modelIn(messageOf(record)) : undefined
  if (model !== undefined && !session.models.includes(model)) change.models = [...session.models, model]
  const title = titleOf(record, type, memory)
  if (title !== undefined && title !== session.title) change.title = title
  return Object.keys(change).length > 0 ? { ...session, ...change } : session
}

/** A file of snapshots and titles alone is no session. */
export const isConversation = ({ kind, last_at, cwd, agent_version, models, first_prompt }: Session): boolean =>
  kind === 'prompts' ||
  models.length > 0 ||
  [last_at, cwd, agent_version, first_prompt].some((value) => value !== undefined)

/** Records are not in the order of their times, and the first ones have none. */
export function settle(session: Session, { first, last }: Memory): Session {
  if (first === null || last === null) return session
  return session.started_at === first && session.last_at === last
    ? session
    : { ...session, started_at: first, last_at: last }
}

/** The session stays that of the directory in which it began, also when it continues in a worktree. */
function addChainFields(change: Mutable<Partial<Session>>, session: Session, record: Fields): void {
  const cwd = nonEmptyStringOf(record['cwd'])
  if (cwd !== undefined && session.cwd === undefined) change.cwd = cwd
  const branch = nonEmptyStringOf(record['gitBranch'])
  if (branch !== undefined && session.git === undefined) change.git = { branch }
  const version = nonEmptyStringOf(record['version'])
  if (version !== undefined && version !== session.agent_version) change.agent_version = version
  const origin = nonEmptyStringOf(record['entrypoint'])
  if (origin !== undefined && session.origin === undefined) change.origin = origin
}

function lineageOf(record: Fields, memory: Memory, source: Source): Mutable<Partial<Session>> {
  const place = originalPathOf(source)
  const native = nativeIdOf(place)
  const named = nonEmptyStringOf(record['sessionId'])
  const family = source.bytes ? undefined : familyOf(source, nonEmptyStringOf(record['uuid']) ?? '')
  if (family) memory.copiedFrom = family.earlier
  // Of the old layout, the records name the session that started the sub-agent.
  const isAgent = isAgentLog(place) || (record['isSidechain'] === true && named !== undefined && named !== native)
  if (isAgent) {
    memory.isAgent = true
    const parent = parentInPath(place) ?? named
    const lineage: Mutable<Partial<Session>> = { origin: 'subagent', ...sidecarOf(place) }
    if (parent !== undefined && parent !== native)
      Object.assign(lineage, { parent: makeSessionId(source.agent, parent), relation: 'subagent' })
    return lineage
  }
  return family ? { parent: makeSessionId(source.agent, nativeIdOf(family.origin)), relation: 'fork' } : {}
}

/** What `agent-<id>.meta.json` says of a sub-agent. */
function sidecarOf(log: string): Mutable<Partial<Session>> {
  try {
    const meta = fieldsOf(parseStructure(readRegularFile(log.replace(/\.jsonl$/i, '.meta.json')).toString('utf8')))
    const nickname = nonEmptyStringOf(meta?.['agentType'])
    const title = nonEmptyStringOf(meta?.['description'])
    const call = nonEmptyStringOf(meta?.['toolUseId'])
    return {
      ...(call !== undefined && { parent_call: call }),
      ...(nickname !== undefined && { nickname }),
      ...(title !== undefined && { title }),
    }
  } catch {
    return {}
  }
}

/** The desktop app describes each of its sessions beside the session's folder, and writes the title there later. */
export function addDesktopTitle(session: Session, source: Source, memory: Memory): Session {
  const folder = DESKTOP_FOLDER.exec(originalPathOf(source))?.[1]
  if (folder === undefined || source.bytes || memory.isAgent || memory.titleRank >= CUSTOM_TITLE_RANK) return session
  try {
    const described = fieldsOf(parseStructure(readRegularFile(`${folder}.json`).toString('utf8')))
    const title = nonEmptyStringOf(described?.['title'])
    const id = nonEmptyStringOf(described?.['cliSessionId'])
    return title === undefined || (id !== undefined && id !== session.native_id) ? session : { ...session, title }
  } catch {
    return session
  }
}

const DESKTOP_FOLDER = /^(.*[\\/]local-agent-mode-sessions[\\/](?:[^\\/]+[\\/])*?local_[^\\/]+)[\\/]/

const CUSTOM_TITLE_RANK = 4

/** A later title of the same kind replaces an earlier one, and never a better kind. */
const TITLES: { readonly [type: string]: readonly [field: string, rank: number] } = {
  'custom-title': ['customTitle', CUSTOM_TITLE_RANK],
  'ai-title': ['aiTitle', 3],
  'agent-name': ['agentName', 2],
  summary: ['summary', 1],
}

/** A title that is no worse than the one before. */
export function titleOf(record: Fields, type: string | null, memory: Memory): string | undefined {
  const [field, rank] = TITLES[type ?? ''] ?? []
  if (field === undefined || rank === undefined || (rank < memory.titleRank && type !== 'summary')) return undefined
  const title = nonEmptyStringOf(record[field])
  // Old logs begin with titles of other sessions.
  if (type === 'summary' && !isOfThisLog(record, memory)) {
    const leaf = nonEmptyStringOf(record['leafUuid'])
    if (leaf !== undefined && title !== undefined) pushBounded(memory.summaries, [leaf, title], MAX_SUMMARIES)
    return undefined
  }
  if (rank < memory.titleRank) return undefined
  if (title !== undefined) memory.titleRank = rank
  return title
}

const isOfThisLog = ({ leafUuid }: Fields, { recent, tip }: Memory): boolean =>
  leafUuid !== undefined && (leafUuid === tip || recent.some(([uuid]) => uuid === leafUuid))

/** What the first pass needs of a record, without a message of it. Only records that change nothing else. */
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import type { Session } from '../../model/session.ts'
import type { RecordCounts, RecordPosition } from '../kit/scan-tally.ts'
import { titleOf } from './describe.ts'
import { MAX_RECENT, MAX_ROOTS, type Memory, noteTime, pushBounded } from './memory.ts'
import { messageOf, modelIn, typeOf } from './record/drafts.ts'
import { countResponse } from './record/usage.ts'

/** Undefined for a record that must be read: it may be a copy or a repetition, begin something, or change the header. */
export function countRecord(
  record: Fields,
  session: Session,
  memory: Memory,
  position: RecordPosition,
): RecordCounts | undefined {
  switch (typeOf(record)) {
    case 'assistant':
      return countAnswer(record, session, memory, position)
    case 'system':
      return countEvent(record, session, memory, position)
    case 'ai-title':
      return countTitle(record, memory)
    default:
      return undefined
  }
}

const NOTHING: RecordCounts = { messages: 0, tools: [], model: undefined, usage: undefined }

/** A program repeats and replaces its title again and again. */
function countTitle(record: Fields, memory: Memory): RecordCounts | undefined {
  if (!memory.begun || 'x_conv' in record || 'uuid' in record || 'timestamp' in record) return undefined
  const title = titleOf(record, 'ai-title', memory)
  return title === undefined ? NOTHING : { ...NOTHING, title }
}

/** What is for display only. */
function countEvent(
  record: Fields,
  session: Session,
  memory: Memory,
  position: RecordPosition,
): RecordCounts | undefined {
  const uuid = nonEmptyStringOf(record['uuid'])
  const isEvent = record['subtype'] === 'turn_duration' || record['subtype'] === 'stop_hook_summary'
  if (uuid === undefined || !isEvent || 'message' in record) return undefined
  if (!isPlain(record, memory) || !isKnownPlace(record, session) || isKnownUuid(uuid, memory)) return undefined
  rememberRecord(uuid, record, memory, position)
  return NOTHING
}

function countAnswer(
  record: Fields,
  session: Session,
  memory: Memory,
  position: RecordPosition,
): RecordCounts | undefined {
  const uuid = nonEmptyStringOf(record['uuid'])
  const message = messageOf(record)
  const model = modelIn(message)
  if (uuid === undefined || model === undefined || !session.models.includes(model)) return undefined
  if (!isPlain(record, memory) || !isKnownPlace(record, session) || isKnownUuid(uuid, memory)) return undefined
  const blocks = message?.['content']
  if (!Array.isArray(blocks) || blocks.length === 0) return undefined
  const tools: string[] = []
  let messages = 0
  for (const block of blocks) {
    const fields = fieldsOf(block)
    const type = fields?.['type']
    if (type === 'text' && stringOf(fields?.['text']) !== undefined) messages++
    else if (type === 'tool_use' && nonEmptyStringOf(fields?.['id']) !== undefined)
      tools.push(nonEmptyStringOf(fields?.['name']) ?? 'unknown')
    else if (type !== 'thinking' && type !== 'redacted_thinking') return undefined
  }
  rememberRecord(uuid, record, memory, position)
  return { messages, tools, model, usage: countResponse(record, memory.responses, false) }
}

/** As `relate` does, but for what only messages need. */
function rememberRecord(uuid: string, record: Fields, memory: Memory, { at, id }: RecordPosition): void {
  noteTime(memory, at)
  pushBounded(memory.recent, [uuid, id], MAX_RECENT)
  if (nonEmptyStringOf(record['parentUuid']) === undefined) pushBounded(memory.roots, [uuid, id], MAX_ROOTS)
  memory.tip = uuid
}

/** Of this log's own conversation, and nothing but what its type says. */
const isPlain = (record: Fields, memory: Memory): boolean =>
  memory.begun &&
  memory.copiedFrom.length === 0 &&
  memory.repeatsBefore === null &&
  (record['isSidechain'] !== true || memory.isAgent) &&
  record['isApiErrorMessage'] !== true &&
  !('x_conv' in record)

/** The header has it already. */
function isKnownPlace(record: Fields, { started_at, cwd, git, origin, agent_version }: Session): boolean {
  const version = nonEmptyStringOf(record['version'])
  return (
    started_at !== null &&
    (version === undefined || version === agent_version) &&
    (cwd !== undefined || nonEmptyStringOf(record['cwd']) === undefined) &&
    (git !== undefined || nonEmptyStringOf(record['gitBranch']) === undefined) &&
    (origin !== undefined || nonEmptyStringOf(record['entrypoint']) === undefined)
  )
}

const isKnownUuid = (uuid: string, { roots, recent }: Memory): boolean => {
  for (const [known] of roots) if (known === uuid) return true
  for (const [known] of recent) if (known === uuid) return true
  return false
}

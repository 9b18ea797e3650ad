/** pi: sessions of every version. */
import { basename } from 'node:path'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { makeSessionId, toInstant, UUID_PATTERN } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Mutable } from '../../model/normalized.ts'
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Source } from '../agent.ts'
import { addRecord, followParent, type LiveRecords, repeatedIn, repeatMarks } from '../kit/branches.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { mayBeGlued } from '../kit/log-file.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { check } from './check.ts'
import { deliver, place } from './deliver.ts'
import { draftsOf, isHeader, knownName, usageOf } from './record.ts'
import { AGENT_ID, describe, find, recognize, roots } from './store.ts'
import { write } from './write.ts'

/** What a session remembers of earlier entries. Plain JSON. */
interface Tree {
  live: LiveRecords
  /** The entry that is being read repeats the one with this message. */
  repeated: string | null
  /** When a fork began, in milliseconds: entries of before are copies. */
  forkedAt: number | null
}

const pi: Agent = {
  id: AGENT_ID,
  label: 'pi',
  version: 1,
  roots,
  retention: () => KEEPS,
  recognize,
  describe,
  find,
  ...jsonlAgent<Tree>({
    agent: AGENT_ID,
    nativeId: (first) => (isHeader(first) ? nonEmptyStringOf(first['id']) : undefined),
    timeOf: (record) => record['timestamp'],
    eventOf: (record) => stringOf(record['type']) ?? null,
    draftsOf,
    describe: describeSession,
    newMemory: () => ({ live: [], repeated: null, forkedAt: null }),
    relate,
    isSilent,
  }),
  forms: [{ name: AGENT_ID, label: 'a session of pi', label_ja: 'pi の会話', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  originals: {
    place,
    relocate: (original, change) => relocateJsonLines(original, ['cwd'], change),
  },
  resume: ({ native_id, cwd }) => ({
    program: 'pi',
    arguments: ['--session', native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default pi

/** Results are not counted. */
const RESULT =
  /^\{"type":"message","id":"([^"\\]*)","parentId":(?:null|"[^"\\]*"),"timestamp":"[^"\\]*","message":\{"role":"toolResult",/
const RESULT_HEAD_BYTES = 256

function isSilent(bytes: Buffer, tree: Tree): boolean {
  const record = RESULT.exec(bytes.toString('latin1', 0, RESULT_HEAD_BYTES))?.[1]
  if (record === undefined || mayBeGlued(bytes)) return false
  if (repeatedIn(tree.live, record) === undefined) addRecord(tree.live, record, '')
  return true
}

const PARENT_FILE = new RegExp(`(${UUID_PATTERN})\\.jsonl$`, 'i')

function describeSession(session: Session, record: Fields, tree: Tree): Session {
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  if (isHeader(record)) {
    const cwd = nonEmptyStringOf(record['cwd'])
    if (cwd !== undefined && session.cwd === undefined) changes.cwd = cwd
    // A path of Windows, or of another machine.
    const parent = PARENT_FILE.exec(basename((stringOf(record['parentSession']) ?? '').replaceAll('\\', '/')))?.[1]
    if (parent !== undefined && session.parent === undefined) {
      changes.parent = makeSessionId(AGENT_ID, parent)
      changes.relation = 'fork'
      tree.forkedAt = Date.parse(toInstant(record['timestamp']) ?? '') || null
    }
  }
  // A fork holds copies from before its header: its conversation began with them.
  const at = toInstant(record['timestamp'])
  if (at !== undefined && session.started_at !== null && at < session.started_at) changes.started_at = at
  const message = fieldsOf(record['message'])
  const model = message?.['role'] === 'assistant' ? knownName(message['model']) : undefined
  if (model !== undefined && !session.models.includes(model)) changes.models = [...session.models, model]
  const provider = knownName(message?.['provider'])
  if (provider !== undefined && session.model_provider === undefined) changes.model_provider = provider
  const title = record['type'] === 'session_info' ? nonEmptyStringOf(record['name']) : undefined
  if (title !== undefined && title !== session.title) changes.title = title
  for (const _ in changes) return { ...session, ...changes }
  return session
}

function relate(
  draft: MessageDraft,
  record: Fields,
  id: string,
  tree: Tree,
  _source: Source,
  isFirst: boolean,
): Metadata | undefined {
  const entry = isHeader(record) ? undefined : stringOf(record['id'])
  if (isFirst) tree.repeated = (entry !== undefined && repeatedIn(tree.live, entry)) || null
  if (tree.repeated !== null) return repeatMarks(tree.repeated)
  const marks: Mutable<Metadata> = {}
  const at = Date.parse(toInstant(record['timestamp']) ?? '')
  // A fork begins with copies of its parent's entries, which count there.
  if (tree.forkedAt !== null && at < tree.forkedAt && !isHeader(record)) marks.replayed = true
  const usage = draft.key?.what === 'usage' ? usageOf(fieldsOf(record['message'])?.['usage']) : undefined
  if (usage && !marks.replayed) marks.usage = usage
  if (entry !== undefined && isFirst) {
    const parent = record['parentId']
    const left = followParent(tree.live, entry, parent === null ? null : stringOf(parent), id)
    if (left.length > 0) marks.rolled_back = left
  }
  for (const _ in marks) return marks
  return undefined
}

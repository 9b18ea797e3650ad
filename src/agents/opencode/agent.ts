/** OpenCode: sessions in its database, in the files of earlier versions, and in exported documents. */
import { watchDatabase } from '../../lib/sqlite/watch-database.ts'
import { type Fields, fieldsOf, nonEmptyStringOf, numberOf, stringOf } from '../../lib/unknown-values.ts'
import { instantFromMs, makeSessionId, toInstant } from '../../model/ids.ts'
import type { Metadata } from '../../model/metadata.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Source } from '../agent.ts'
import type { MessageDraft } from '../kit/place-message.ts'
import { recordStoreAgent } from '../kit/record-store.ts'
import { capture, holds, makeLoadable } from './capture.ts'
import { check } from './check.ts'
import { deliver, install } from './deliver.ts'
import { draftsOf, infoOf, isHeader, isRevert, knownName, partsOf, roleOf } from './record.ts'
import { inKeyOrder } from './record-text.ts'
import { AGENT_ID, describe, find, probe, recognize, recordStore, roots, stores } from './store.ts'
import { write } from './write.ts'

/** What a session remembers of earlier records. Plain JSON. */
interface Memory {
  /** Where a revert begins: a message, or one of its parts. */
  revertTo: string | null
  /** Our first message of what a revert takes back. */
  reverted: string | null
  isSubagent: boolean
}

const opencode: Agent = {
  id: AGENT_ID,
  label: 'OpenCode',
  version: 1,
  roots,
  recognize,
  describe,
  find,
  probe,
  ...recordStoreAgent<Memory>(
    {
      agent: AGENT_ID,
      nativeId: (first) => nonEmptyStringOf(infoOf(first)['id']),
      timeOf: (record) => fieldsOf(infoOf(record)['time'])?.['created'],
      eventOf: (record) =>
        isHeader(record) ? 'session' : isRevert(record) ? 'revert' : (stringOf(roleOf(record)) ?? null),
      draftsOf,
      describe: describeSession,
      newMemory: () => ({ revertTo: null, reverted: null, isSubagent: false }),
      relate,
      inOrder: inKeyOrder,
    },
    recordStore,
  ),
  retention: () => ({ kind: 'overwrites' }),
  volatile: {
    stores,
    capture,
    watch: watchDatabase,
    loadable: makeLoadable,
    loadCommand: (file) => ({ program: 'opencode', arguments: ['import', file] }),
    install,
    holds,
  },
  forms: [{ name: AGENT_ID, label: 'a session of OpenCode', label_ja: 'OpenCode の会話', suffix: '.json' }],
  write,
  check,
  deliver,
  resume: ({ native_id, cwd }) => ({
    program: 'opencode',
    arguments: ['--session', native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default opencode

/** The title that a session has until the model gives it one. */
const NO_TITLE = /^(?:New|Child) session - \d{4}-\d\d-\d\dT/

function describeSession(session: Session, record: Fields, memory: Memory, _source: Source): Session {
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  const info = infoOf(record)
  if (isHeader(record)) {
    const revert = fieldsOf(info['revert'])
    memory.revertTo = nonEmptyStringOf(revert?.['partID']) ?? nonEmptyStringOf(revert?.['messageID']) ?? null
    const { directory, title, version, parentID } = info
    if (nonEmptyStringOf(directory) !== undefined) changes.cwd = String(directory)
    if (nonEmptyStringOf(title) !== undefined && !NO_TITLE.test(String(title))) changes.title = String(title)
    if (nonEmptyStringOf(version) !== undefined) changes.agent_version = String(version)
    if (nonEmptyStringOf(parentID) !== undefined) {
      changes.parent = makeSessionId(AGENT_ID, String(parentID))
      changes.relation = 'subagent'
      memory.isSubagent = true
      changes.origin = 'subagent'
    }
  }
  // A fork holds copies of messages that are older than itself.
  const at = toInstant(fieldsOf(info['time'])?.['created'])
  if (at !== undefined && session.started_at !== null && at < session.started_at) changes.started_at = at
  const last = lastTimeIn(record)
  if (last !== undefined && (session.last_at === undefined || last > session.last_at)) changes.last_at = last
  if (roleOf(record) === 'assistant') {
    // The first versions noted the directory here alone.
    const directory = nonEmptyStringOf(fieldsOf(info['path'])?.['cwd'])
    if (session.cwd === undefined && directory !== undefined) changes.cwd = directory
    const model = knownName(info['modelID'])
    const provider = knownName(info['providerID'])
    if (model !== undefined && !session.models.includes(model)) changes.models = [...session.models, model]
    if (provider !== undefined && session.model_provider === undefined) changes.model_provider = provider
  }
  for (const _ in changes) return { ...session, ...changes }
  return session
}

/** When a message, its calls and its texts ended. */
function lastTimeIn(record: Fields) {
  let last: number | undefined
  const note = (value: unknown): void => {
    const time = numberOf(value)
    if (time !== undefined && (last === undefined || time > last)) last = time
  }
  const isMessage = !isHeader(record)
  for (const part of [infoOf(record), ...partsOf(record).flatMap((one) => [one, fieldsOf(one['state']) ?? {}])]) {
    const { created, completed, start, end } = fieldsOf(part['time']) ?? {}
    if (isMessage) for (const value of [created, completed, start, end]) note(value)
  }
  return last === undefined ? undefined : instantFromMs(last)
}

function relate(draft: MessageDraft, record: Fields, id: string, memory: Memory): Metadata | undefined {
  if (isRevert(record)) return memory.reverted === null ? undefined : { rolled_back: [memory.reverted] }
  if (memory.revertTo !== null && memory.reverted === null && isRevertedFrom(record, memory.revertTo))
    memory.reverted = id
  // What the agent that started it asks for was not typed by a person.
  const isAsked = memory.isSubagent && draft.role === 'user' && draft.metadata?.injected === undefined
  return isAsked ? { injected: true } : undefined
}

const isRevertedFrom = (record: Fields, id: string): boolean =>
  infoOf(record)['id'] === id || partsOf(record).some((part) => part['id'] === id)

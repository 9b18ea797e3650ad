/** Qwen Code: sessions of its own format. */
import { basename } from 'node:path'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent } from '../agent.ts'
import { addRecord, repeatedIn } from '../kit/branches.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { mayBeGlued } from '../kit/log-file.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { type Chain, newChain, relate } from './chain.ts'
import { check } from './check.ts'
import { deliver, place } from './deliver.ts'
import { draftsOf, responseOf } from './record.ts'
import { AGENT_ID, describe, find, recognize, roots } from './store.ts'
import { write } from './write.ts'

const qwen: Agent = {
  id: AGENT_ID,
  label: 'Qwen Code',
  version: 1,
  roots,
  retention: () => KEEPS,
  recognize,
  describe,
  find,
  ...jsonlAgent<Chain>({
    agent: AGENT_ID,
    nativeId: (first, path) => nonEmptyStringOf(first['sessionId']) ?? basename(path).replace(/\.jsonl$/i, ''),
    timeOf: (record) => record['timestamp'],
    eventOf: (record) => stringOf(record['type']) ?? null,
    draftsOf,
    describe: describeSession,
    newMemory: newChain,
    relate,
    isSilent,
  }),
  forms: [{ name: AGENT_ID, label: 'a session of Qwen Code', label_ja: 'Qwen Code の会話', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  originals: {
    place,
    relocate: (original, change) => relocateJsonLines(original, ['cwd'], change),
  },
  resume: ({ native_id, cwd }) => ({
    program: 'qwen',
    arguments: ['--resume', native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default qwen

/** Results are not counted, and their other fields repeat those of the answer. */
const RESULT =
  /^\{"uuid":"([^"\\]*)","parentUuid":(?:null|"[^"\\]*"),"sessionId":"[^"\\]*","timestamp":"[^"\\]*","type":"tool_result",/
const RESULT_HEAD_BYTES = 384

function isSilent(bytes: Buffer, chain: Chain): boolean {
  const record = RESULT.exec(bytes.toString('latin1', 0, RESULT_HEAD_BYTES))?.[1]
  if (record === undefined || mayBeGlued(bytes)) return false
  if (repeatedIn(chain.live, record) === undefined) addRecord(chain.live, record, '')
  return true
}

/** Every record repeats the directory, version and branch; the first ones count. */
function describeSession(session: Session, record: Fields): Session {
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  const cwd = nonEmptyStringOf(record['cwd'])
  const version = nonEmptyStringOf(record['version'])
  const branch = nonEmptyStringOf(record['gitBranch'])
  if (cwd !== undefined && session.cwd === undefined) changes.cwd = cwd
  if (version !== undefined && session.agent_version !== version) changes.agent_version = version
  if (branch !== undefined && session.git === undefined) changes.git = { branch }
  const model = nonEmptyStringOf(record['model']) ?? responseOf(record)?.model
  if (model !== undefined && !session.models.includes(model)) changes.models = [...session.models, model]
  if (record['subtype'] === 'custom_title') {
    const title = nonEmptyStringOf(fieldsOf(record['systemPayload'])?.['customTitle'])
    if (title !== undefined && title !== session.title) changes.title = title
  }
  for (const _ in changes) return { ...session, ...changes }
  return session
}

/** GitHub Copilot CLI: sessions of every version. */
import { basename, dirname } from 'node:path'
import { type Fields, fieldsOf, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Source } from '../agent.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { mayBeGlued } from '../kit/log-file.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { check } from './check.ts'
import { deliver } from './deliver.ts'
import { looksLikeDocument, parseHistory } from './history.ts'
import { dataOf, draftsOf, typeOf } from './record.ts'
import { type Memory, newMemory, relate, select } from './relate.ts'
import { AGENT_ID, describe, find, nameOf, recognize, roots, sideFiles } from './store.ts'
import { write } from './write.ts'

const copilot: Agent = {
  id: AGENT_ID,
  label: 'Copilot CLI',
  names: { [AGENT_ID]: 'Copilot' },
  version: 2,
  roots,
  retention: () => KEEPS,
  recognize,
  describe,
  find,
  ...jsonlAgent<Memory>({
    agent: AGENT_ID,
    nativeId: (first, path) => nonEmptyStringOf(dataOf(first)['sessionId']) ?? idInPath(path),
    timeOf: (record) => record['timestamp'],
    eventOf: (record) => stringOf(record['type']) ?? null,
    draftsOf,
    describe: describeSession,
    newMemory,
    select,
    relate,
    isSilent,
    settle,
    document: { matches: looksLikeDocument, parse: parseHistory },
  }),
  forms: [{ name: AGENT_ID, label: 'a session of Copilot CLI', label_ja: 'Copilot CLI の会話', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  originals: {
    sideFiles,
    relocate: (original, change) => relocateJsonLines(original, ['cwd', 'gitRoot'], change),
  },
  resume: ({ native_id, cwd }) => ({
    program: 'copilot',
    arguments: [`--resume=${native_id}`],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default copilot

/** The beginning of a session may be missing. */
const idInPath = (path: string): string | undefined =>
  basename(path) === 'events.jsonl' ? basename(dirname(path)) : basename(path).replace(/\.jsonl?$/i, '')

/** Neither header nor counts nor tokens; the longest lines are among them. */
const SILENT =
  /^\{"type":"(?:system\.message|assistant\.turn_(?:start|end)|permission\.[a-z]+|hook\.[a-z]+|model\.[a-z_]+|session\.binary_asset|tool\.execution_complete)",/
const CALL = /^\{"type":"tool\.execution_start","data":\{"toolCallId":"([^"\\]*)"/
const SILENT_HEAD_BYTES = 256

function isSilent(bytes: Buffer, { calls }: Memory): boolean {
  const head = bytes.toString('latin1', 0, SILENT_HEAD_BYTES)
  if (SILENT.test(head)) return !mayBeGlued(bytes)
  const call = CALL.exec(head)?.[1]
  return call !== undefined && calls.some(([id]) => id === call) && !mayBeGlued(bytes)
}

/** Events at which a name that was given meanwhile is on disk. */
const NAMED_AT: ReadonlySet<string> = new Set(['session.start', 'session.resume', 'session.shutdown'])

function describeSession(session: Session, record: Fields, memory: Memory, source: Source): Session {
  memory.session = session.native_id
  const type = typeOf(record)
  const data = dataOf(record)
  if (NAMED_AT.has(type)) memory.name = nameOf(source.path) ?? memory.name
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  if (type === 'session.start' || type === 'session.resume' || type === 'session.context_changed') {
    const context = fieldsOf(data['context']) ?? data
    const cwd = nonEmptyStringOf(context['cwd'])
    const git = gitOf(context)
    const version = nonEmptyStringOf(data['copilotVersion'])
    if (cwd !== undefined && session.cwd === undefined) changes.cwd = cwd
    if (git && session.git === undefined) changes.git = git
    if (version !== undefined && session.agent_version !== version) changes.agent_version = version
  }
  const named = type === 'assistant.message' ? data['model'] : fieldsOf(data['usage'])?.['model']
  const model = nonEmptyStringOf(named)
  if (model !== undefined && !session.models.includes(model)) changes.models = [...session.models, model]
  for (const _ in changes) return { ...session, ...changes }
  return session
}

function gitOf(context: Fields): Session['git'] | undefined {
  const [branch, commit] = [nonEmptyStringOf(context['branch']), nonEmptyStringOf(context['headCommit'])]
  const [host, repository] = [nonEmptyStringOf(context['repositoryHost']), nonEmptyStringOf(context['repository'])]
  if (branch === undefined && commit === undefined && repository === undefined) return undefined
  return {
    ...(commit !== undefined && { commit_hash: commit }),
    ...(branch !== undefined && { branch }),
    ...(host !== undefined && repository !== undefined && { repository_url: `https://${host}/${repository}` }),
  }
}

/** Until someone names it, a session is called by the beginning of its first prompt. */
function settle(session: Session, { name }: Memory): Session {
  const isPrompt = name !== null && session.first_prompt?.startsWith(name.replace(/(?:\.\.\.|…)$/, ''))
  return name === null || isPrompt || session.title === name ? session : { ...session, title: name }
}

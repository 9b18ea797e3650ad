/** Gemini CLI: sessions of every format, prompts and saved checkpoints. */
import { basename, dirname } from 'node:path'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, nonEmptyStringOf, stringOf } from '../../lib/unknown-values.ts'
import { makeSessionId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Source } from '../agent.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { mayBeGlued } from '../kit/log-file.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { check } from './check.ts'
import { deliver } from './deliver.ts'
import { type Fold, newFold, relate, select, summaryOf } from './fold.ts'
import { otherFileDrafts, timeOfItem } from './other-files.ts'
import { describe, looksLikeDocument, parseDocument, recognize } from './recognize.ts'
import { draftsOf, isHeader, isMessage, listedMessages } from './record.ts'
import { AGENT_ID, directoryOf, find, projectFolderOf, retention, roots, sideFiles } from './store.ts'
import { write } from './write.ts'

const gemini: Agent = {
  id: AGENT_ID,
  label: 'Gemini CLI',
  names: { [AGENT_ID]: 'Gemini' },
  version: 1,
  roots,
  retention,
  recognize,
  describe,
  find,
  ...jsonlAgent<Fold>({
    agent: AGENT_ID,
    nativeId: (first, path) => nonEmptyStringOf(first['sessionId']) ?? nameOfFile(first, path),
    timeOf: (record) => (isMessage(record) ? record['timestamp'] : (record['startTime'] ?? timeOfItem(record))),
    eventOf: (record) =>
      (isMessage(record) ? stringOf(record['type']) : isHeader(record) ? 'session' : firstKey(record)) ?? null,
    draftsOf: (record) => otherFileDrafts(record) ?? draftsOf(record),
    describe: describeSession,
    newMemory: newFold,
    select,
    relate,
    // Its memory is large, because the log repeats itself.
    cursorInterval: 16_000_000,
    isSilent: (bytes) => SILENT.test(bytes.toString('latin1', 0, SILENT_HEAD_BYTES)) && !mayBeGlued(bytes),
    document: { matches: looksLikeDocument, parse: parseDocument },
  }),
  forms: [{ name: AGENT_ID, label: 'a session of Gemini CLI', label_ja: 'Gemini CLI の会話', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  originals: {
    sideFiles,
    relocate: (original, { from, to }) =>
      relocateJsonLines(original, ['projectHash'], { from: sha256(from), to: sha256(to) }),
  },
  resume: ({ native_id, cwd }) => ({
    program: 'gemini',
    arguments: ['--resume', native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default gemini

/** Nearly every second line only says when the session was last changed; a result repeats what its call holds. */
const SILENT =
  /^\{(?:"\$set":\{"lastUpdated":"[^"\\]*"\}\}$|"id":"[^"\\]*","timestamp":"[^"\\]*","type":"user","content":\[\{"functionResponse":)/
const SILENT_HEAD_BYTES = 256

const firstKey = (record: Fields): string | undefined => Object.keys(record)[0]

/** Checkpoints and lists of prompts have no id: they are named by their project and file. */
function nameOfFile(first: Fields, path: string): string | undefined {
  if (first['file'] === undefined) return undefined
  const name = basename(path).replace(/\.json$/, '')
  return `${basename(projectFolderOf(path) ?? dirname(path))}-${name === 'logs' ? 'prompts' : name}`
}

const PARENT_FOLDER = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** The header as a record extends it. */
function describeSession(session: Session, record: Fields, _fold: Fold, source: Source): Session {
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  if (isHeader(record) || record['file'] !== undefined) {
    const cwd = session.cwd ?? directoryOf(source.path, stringOf(record['projectHash']))
    if (cwd !== undefined && cwd !== session.cwd) changes.cwd = cwd
    if (record['file'] === 'prompts' && session.kind !== 'prompts') changes.kind = 'prompts'
    const parent = basename(dirname(source.path))
    if (record['kind'] === 'subagent' && session.origin === undefined) {
      changes.origin = 'subagent'
      if (PARENT_FOLDER.test(parent)) {
        changes.parent = makeSessionId(AGENT_ID, parent)
        changes.relation = 'subagent'
      }
    }
  }
  const title = summaryOf(record)
  if (title !== undefined && title !== session.title) changes.title = title
  if (session.cwd === undefined && changes.cwd === undefined) {
    const cwd = workspaceIn(record)
    if (cwd !== undefined) changes.cwd = cwd
  }
  const models = [record, ...(listedMessages(record) ?? [])].flatMap(({ model }) => nonEmptyStringOf(model) ?? [])
  const unknown = models.filter((model) => !session.models.includes(model))
  if (unknown.length > 0) changes.models = [...new Set([...session.models, ...unknown])]
  for (const _ in changes) return { ...session, ...changes }
  return session
}

const WORKSPACE = /^<session_context>[\s\S]*?\n- \*\*Workspace Directories:\*\*\n {2}- (.+)\n/

/** The program tells the model the directory; a file away from its home has no other trace of it. */
function workspaceIn(record: Fields): string | undefined {
  const first = listedMessages(record)?.[0]
  const content = first?.['content']
  const text = Array.isArray(content) ? (content[0] as Fields | undefined)?.['text'] : content
  return WORKSPACE.exec(stringOf(text) ?? '')?.[1]
}

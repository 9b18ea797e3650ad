/** Cline and Roo Code: tasks of the extensions and of Cline's command line. */
import { type Fields, nonEmptyStringOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import { makeSessionId, toInstant } from '../../model/ids.ts'
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Source } from '../agent.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { originalPathOf } from '../kit/place-message.ts'
import { probeFile } from '../kit/source-file.ts'
import { draftsOf, isMessage, messagesIn, modelOfMessage, numberMessages, timeOf } from './record.ts'
import { CLINE, describe, find, idInPath, ROO, recognize, rootOwner, roots, sideFiles } from './store.ts'
import { sidePrint, taskOf } from './task.ts'

const cline: Agent = {
  id: CLINE,
  label: 'Cline',
  names: { [ROO]: 'Roo Code' },
  version: 1,
  roots,
  rootOwner,
  retention: () => KEEPS,
  recognize,
  describe,
  find,
  ...jsonlAgent<Record<string, never>>({
    agent: CLINE,
    nativeId: (_first, path) => idInPath(path),
    // A message gets its time from the files beside it, as its drafts say.
    timeOf: (record) => record['ts'],
    eventOf: (record) => (isMessage(record) ? (stringOf(record['role']) ?? null) : 'task'),
    draftsOf,
    describe: describeTask,
    newMemory: () => ({}),
    document: {
      matches: () => true,
      parse(text) {
        const found = messagesIn(parseStructure(text.replace(/^\uFEFF/, '')))
        return found && numberMessages(found.header, found.messages)
      },
    },
  }),
  async probe(source) {
    const own = await probeFile(source)
    return own === undefined ? undefined : `${own}|${sidePrint(source)}`
  },
  originals: { sideFiles },
}

export default cline

function describeTask(session: Session, record: Fields, _memory: object, source: Source): Session {
  if (isMessage(record)) {
    const model = modelOfMessage(record, source)
    const isNew = model !== undefined && !session.models.includes(model)
    const started_at = session.started_at ?? toInstant(timeOf(record, source)) ?? null
    if (!isNew && started_at === session.started_at) return session
    return { ...session, started_at, ...(isNew && { models: [...session.models, model] }) }
  }
  const { cwd, model, title, mode, parent } = taskOf(source)
  const origin = nonEmptyStringOf(record['origin']) ?? mode
  return {
    ...session,
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && { title }),
    ...(origin !== undefined && { origin }),
    ...(model !== undefined && { models: [model] }),
    ...(parent !== undefined &&
      parent !== idInPath(originalPathOf(source)) && {
        parent: makeSessionId(source.agent, parent),
        relation: 'subagent' as const,
      }),
  }
}

/** Our own conversations: a journal for each, one event on each line. */
import { stat } from 'node:fs/promises'
import type { Session } from '../../model/session.ts'
import type { Agent, ResumeCommand, Source, SourceFingerprint } from '../agent.ts'
import { deliver } from './deliver.ts'
import { AGENT_ID, describe, find, recognize, roots } from './find.ts'
import { read, readMessage, stateAt } from './read.ts'
import { scan } from './scan.ts'
import { FORMS, write } from './write.ts'

const fumibako: Agent = {
  id: AGENT_ID,
  label: 'fumibako',
  version: 2,
  roots,
  recognize,
  describe,
  find,
  probe,
  scan,
  read,
  readMessage,
  stateAt,
  forms: FORMS,
  write,
  deliver,
  resume,
}

export default fumibako

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const found = await stat(source.path).catch(() => undefined)
  return found && `${found.size}:${found.mtimeMs}:${found.ino}`
}

function resume({ native_id, cwd }: Session): ResumeCommand {
  const command = { program: 'fumi', arguments: ['chat', '--resume', native_id] }
  return cwd === undefined ? command : { ...command, cwd }
}

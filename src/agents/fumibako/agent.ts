/** Our own conversations: one journal each, with one event per line. */
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, ResumeCommand } from '../agent.ts'
import { probeFile } from '../kit/source-file.ts'
import { deliver } from './deliver.ts'
import { AGENT_ID, describe, find, recognize, roots } from './find.ts'
import { read, readMessage, stateAt } from './read.ts'
import { scan } from './scan.ts'
import { FORMS, write } from './write.ts'

const fumibako: Agent = {
  id: AGENT_ID,
  label: 'fumibako',
  version: 3,
  roots,
  recognize,
  describe,
  find,
  probe: probeFile,
  scan,
  read,
  readMessage,
  stateAt,
  retention: () => KEEPS,
  forms: FORMS,
  write,
  deliver,
  resume,
}

export default fumibako

function resume({ native_id, cwd }: Session): ResumeCommand {
  const command = { program: 'fumi', arguments: ['chat', '--resume', native_id] }
  return cwd === undefined ? command : { ...command, cwd }
}

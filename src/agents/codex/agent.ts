/** Codex CLI: every log it ever wrote. */
import { KEEPS } from '../../model/retention.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, ResumeCommand } from '../agent.ts'
import { relocateJsonLines } from '../kit/relocate-json-lines.ts'
import { probeFile } from '../kit/source-file.ts'
import { check } from './check/check-log.ts'
import { configuredProvider } from './configured-provider.ts'
import { assertLogIdle, deliver } from './deliver.ts'
import { AGENT_ID, find, roots } from './find.ts'
import { mayRollBack, read, readMessage } from './read.ts'
import { describe, recognize } from './recognize.ts'
import { scan } from './scan.ts'
import { write } from './write.ts'

const codex: Agent = {
  id: AGENT_ID,
  label: 'Codex CLI',
  names: { [AGENT_ID]: 'Codex' },
  version: 4,
  takesUnknown: true,
  roots,
  recognize,
  describe,
  find,
  probe: probeFile,
  scan,
  read,
  mayRollBack,
  readMessage,
  retention: () => KEEPS,
  originals: {
    assertIdle: assertLogIdle,
    relocate: (original, change) => relocateJsonLines(original, ['cwd'], change),
  },
  forms: [{ name: AGENT_ID, label: 'a log of Codex CLI', label_ja: 'Codex CLI のログ', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  modelProvider: configuredProvider,
  resume,
}

export default codex

function resume(session: Session): ResumeCommand {
  const command = { program: 'codex', arguments: ['resume', session.native_id] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}

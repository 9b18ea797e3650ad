/** Files of conversations in the formats of OpenAI's programs and of related programs. */
import type { Agent } from '../agent.ts'
import { probeFile } from '../kit/source-file.ts'
import { check } from './check.ts'
import { AGENT_ID, describe, find, recognize } from './find.ts'
import { read, readMessage, scan } from './read.ts'
import { FORMS, write } from './write.ts'

const openai: Agent = {
  id: AGENT_ID,
  label: 'OpenAI messages',
  names: { [AGENT_ID]: 'OpenAI' },
  version: 3,
  hasManySessions: true,
  roots: () => [],
  recognize,
  describe,
  find,
  probe: probeFile,
  scan,
  read,
  readMessage,
  forms: FORMS,
  write,
  check,
}

export default openai

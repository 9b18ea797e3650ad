/** Files of NormalizedMessages: what `fumi normalize` and `fumi convert` write. */
import type { Agent } from '../agent.ts'
import { probeFile } from '../kit/source-file.ts'
import { AGENT_ID, describe, find, recognize } from './find.ts'
import { read, readMessage, scan } from './read.ts'
import { write } from './write.ts'

const normalized: Agent = {
  id: AGENT_ID,
  label: 'NormalizedMessages',
  names: { [AGENT_ID]: 'Normalized' },
  version: 3,
  roots: () => [],
  recognize,
  describe,
  find,
  probe: probeFile,
  scan,
  read,
  readMessage,
  forms: [
    {
      name: AGENT_ID,
      label: 'NormalizedMessages, one on each line',
      label_ja: 'NormalizedMessage（1 行 1 件）',
      suffix: '.ndjson',
    },
  ],
  write,
}

export default normalized

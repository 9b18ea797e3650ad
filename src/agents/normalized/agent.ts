/** Files of NormalizedMessages: what `fumi normalize` and `fumi convert` write. */
import { stat } from 'node:fs/promises'
import type { Agent, Fingerprint, Source } from '../agent.ts'
import { AGENT_ID, find } from './find.ts'
import { body, read } from './read.ts'
import { describe, recognise } from './recognise.ts'
import { scan } from './scan.ts'
import { write } from './write.ts'

const normalized: Agent = {
  id: AGENT_ID,
  label: 'NormalizedMessages',
  version: 3,
  roots: () => [],
  recognise,
  describe,
  find,
  probe,
  scan,
  read,
  body,
  forms: [{ name: AGENT_ID, label: 'NormalizedMessages, one on each line', suffix: '.ndjson' }],
  write,
}

export default normalized

async function probe(source: Source): Promise<Fingerprint | undefined> {
  const found = await stat(source.path).catch(() => undefined)
  return found && `${found.size}:${found.mtimeMs}:${found.ino}`
}

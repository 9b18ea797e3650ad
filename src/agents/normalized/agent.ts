/** Files of NormalizedMessages: what `fumi normalize` and `fumi convert` write. */
import { stat } from 'node:fs/promises'
import type { Agent, Source, SourceFingerprint } from '../agent.ts'
import { AGENT_ID, describe, find, recognize } from './find.ts'
import { read, readMessage, scan } from './read.ts'
import { write } from './write.ts'

const normalized: Agent = {
  id: AGENT_ID,
  label: 'NormalizedMessages',
  version: 3,
  roots: () => [],
  recognize,
  describe,
  find,
  probe,
  scan,
  read,
  readMessage,
  forms: [{ name: AGENT_ID, label: 'NormalizedMessages, one on each line', suffix: '.ndjson' }],
  write,
}

export default normalized

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const found = await stat(source.path).catch(() => undefined)
  return found && `${found.size}:${found.mtimeMs}:${found.ino}`
}

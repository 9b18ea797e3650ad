/** Files of conversations in the forms that OpenAI's programs, and programs around them, write. */
import { stat } from 'node:fs/promises'
import type { Agent, Source, SourceFingerprint } from '../agent.ts'
import { AGENT_ID, describe, find, recognize } from './find.ts'
import { read, readMessage, scan, span } from './read.ts'
import { FORMS, write } from './write.ts'

const openai: Agent = {
  id: AGENT_ID,
  label: 'OpenAI messages',
  version: 3,
  hasManySessions: true,
  roots: () => [],
  recognize,
  describe,
  find,
  probe,
  scan,
  read,
  readMessage,
  span,
  forms: FORMS,
  write,
}

export default openai

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const found = await stat(source.path).catch(() => undefined)
  return found && `${found.size}:${found.mtimeMs}:${found.ino}`
}

/** Codex CLI: every log it ever wrote. */
import { statSync } from 'node:fs'
import { isSystemError, systemErrorReason } from '../../lib/files/system-error.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, ResumeCommand, Source, SourceFingerprint } from '../agent.ts'
import { deliver } from './deliver.ts'
import { AGENT_ID, find, roots } from './find.ts'
import { read, readMessage, span } from './read.ts'
import { describe, recognize } from './recognize.ts'
import { scan } from './scan.ts'
import { write } from './write.ts'

const codex: Agent = {
  id: AGENT_ID,
  label: 'Codex CLI',
  version: 2,
  takesUnknown: true,
  roots,
  recognize,
  describe,
  find,
  probe,
  scan,
  read,
  readMessage,
  span,
  forms: [{ name: AGENT_ID, label: 'a log of Codex CLI', suffix: '.jsonl' }],
  write,
  deliver,
  resume,
}

export default codex

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  // Blocking: a sweep asks this of every source, and the thread pool's answer takes ten times as long.
  try {
    const found = statSync(source.path)
    return `${found.size}:${found.mtimeMs}:${found.ino}`
  } catch (error) {
    // It is there and may not be looked at: whoever reads it is told why.
    if (!isSystemError(error)) throw error
    return error.code === 'ENOENT' ? undefined : systemErrorReason(error)
  }
}

function resume(session: Session): ResumeCommand {
  const command = { program: 'codex', arguments: ['resume', session.native_id] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}

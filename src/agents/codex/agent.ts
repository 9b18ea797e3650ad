/** Codex CLI: every log it ever wrote. */
import { statSync } from 'node:fs'
import { isSystemError, reasonOf } from '../../lib/files/system-error.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, Fingerprint, ResumeCommand, Source } from '../agent.ts'
import { body, span } from './body.ts'
import { deliver } from './deliver.ts'
import { AGENT_ID, find, roots } from './find.ts'
import { read } from './read.ts'
import { describe, recognise } from './recognise.ts'
import { scan } from './scan.ts'
import { write } from './write.ts'

const codex: Agent = {
  id: AGENT_ID,
  label: 'Codex CLI',
  version: 2,
  takesUnknown: true,
  roots,
  recognise,
  describe,
  find,
  probe,
  scan,
  read,
  body,
  span,
  forms: [{ name: AGENT_ID, label: 'a log of Codex CLI', suffix: '.jsonl' }],
  write,
  deliver,
  resume,
}

export default codex

async function probe(source: Source): Promise<Fingerprint | undefined> {
  // Blocking: a sweep asks this of every source, and the thread pool's answer takes ten times as long.
  try {
    const found = statSync(source.path)
    return `${found.size}:${found.mtimeMs}:${found.ino}`
  } catch (error) {
    // It is there and may not be looked at: whoever reads it is told why.
    if (!isSystemError(error)) throw error
    return error.code === 'ENOENT' ? undefined : reasonOf(error)
  }
}

function resume(session: Session): ResumeCommand {
  const command = { program: 'codex', arguments: ['resume', session.native_id] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}

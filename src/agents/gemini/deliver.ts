/** Puts a session where Gemini CLI finds it: in the folder of its project. */
import { basename, join } from 'node:path'
import { findFilesBelow, isFolder } from '../../lib/files/safe-fs.ts'
import { sha256 } from '../../lib/hash.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery } from '../agent.ts'
import { assertHome, deliverFile, notASession, readFirstRecord } from '../kit/deliver-file.ts'
import { AGENT_ID, knownProjects, roots } from './store.ts'

const LABEL = 'Gemini CLI'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = roots(options.environment)[0] ?? ''
  assertHome(LABEL, home)
  const header = readFirstRecord(file)
  const id = nonEmptyStringOf(header?.['sessionId'])
  if (id === undefined) throw notASession(file, LABEL)
  const startedAt = toInstant(header?.['startTime']) ?? options.now.toISOString()
  const minute = startedAt.slice(0, 16).replace(':', '-')
  const chats = join(home, 'tmp', projectFolder(home, options.cwd), 'chats')
  const path = join(chats, `session-${minute}-${id.slice(0, 8)}.jsonl`)
  return deliverFile(file, { agent: AGENT_ID, label: LABEL, home, existing: existingFile(chats, id), path }, options)
}

/**
 * The short name of a project that Gemini CLI knows. Otherwise the hash of its directory, as older versions named it:
 * later ones take it over when they are first started there.
 */
function projectFolder(home: string, cwd: string): string {
  const slug = knownProjects(home)[cwd]
  return typeof slug === 'string' && basename(slug) === slug && isFolder(join(home, 'tmp', slug)) ? slug : sha256(cwd)
}

/** Of several files of a session, the first is the one that Gemini CLI appends to. */
function existingFile(chats: string, id: string): string | undefined {
  const suffix = `-${id.slice(0, 8)}.jsonl`
  return [...findFilesBelow(chats, /\.jsonl$/)]
    .filter((path) => path.endsWith(suffix) && readFirstRecord(path)?.['sessionId'] === id)
    .sort()[0]
}

/** Puts a session where pi finds it: in the folder of its directory. */
import { basename, join } from 'node:path'
import { isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment, Original, PlaceOptions } from '../agent.ts'
import { assertHome, deliverFile, notASession, readFirstRecord } from '../kit/deliver-file.ts'
import { isHeader } from './record.ts'
import { AGENT_ID, projectFolder, roots } from './store.ts'

const LABEL = 'pi'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const sessions = roots(options.environment)[0] ?? ''
  const home = join(sessions, '..')
  assertHome(LABEL, isFolder(sessions) ? sessions : home)
  const header = readFirstRecord(file)
  const id = header && isHeader(header) ? nonEmptyStringOf(header['id']) : undefined
  if (id === undefined) throw notASession(file, LABEL)
  const startedAt = toInstant(header?.['timestamp']) ?? options.now.toISOString()
  const folder = join(sessions, projectFolder(options.cwd))
  const path = join(folder, `${startedAt.replaceAll(/[:.]/g, '-')}_${id}.jsonl`)
  const name = listEntries(folder).find((entry) => entry.name.endsWith(`_${id}.jsonl`))?.name
  const existing = name === undefined ? undefined : join(folder, name)
  return deliverFile(file, { agent: AGENT_ID, label: LABEL, home: sessions, existing, path }, options)
}

/** A session is found by the folder of the directory in which it is resumed. */
export function place({ path, root }: Original, { environment, directory }: PlaceOptions): string {
  if (directory !== undefined) return join(sessionsOf(environment), projectFolder(directory), basename(path))
  return root !== undefined && path.startsWith(root) ? join(sessionsOf(environment), path.slice(root.length)) : path
}

const sessionsOf = (environment: HostEnvironment): string => roots(environment)[0] ?? ''

/** Puts a session where Qwen Code finds it: in the folder of its directory, under its id. */
import { basename, join } from 'node:path'
import { isFile } from '../../lib/files/safe-fs.ts'
import { stringOf } from '../../lib/unknown-values.ts'
import { isUuid } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment, Original, PlaceOptions } from '../agent.ts'
import { assertHome, deliverFile, notASession, readFirstRecord } from '../kit/deliver-file.ts'
import { AGENT_ID, projectKey, roots } from './store.ts'

const LABEL = 'Qwen Code'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const { environment, cwd } = options
  const home = roots(environment)[0] ?? ''
  assertHome(LABEL, home)
  const id = stringOf(readFirstRecord(file)?.['sessionId'])
  if (id === undefined || !isUuid(id)) throw notASession(file, LABEL)
  const path = join(chatsFolder(cwd, environment), `${id}.jsonl`)
  const existing = isFile(path) ? path : undefined
  return deliverFile(file, { agent: AGENT_ID, label: LABEL, home, existing, path }, options)
}

const chatsFolder = (cwd: string, environment: HostEnvironment): string =>
  join(roots(environment)[0] ?? '', 'projects', projectKey(cwd, environment.platform), 'chats')

/** A session is found by the folder of the directory in which it is resumed. */
export function place({ path, root }: Original, { environment, directory }: PlaceOptions): string {
  if (directory !== undefined) return join(chatsFolder(directory, environment), basename(path))
  const home = roots(environment)[0] ?? ''
  return root !== undefined && path.startsWith(root) ? join(home, path.slice(root.length)) : path
}

/** What was kept beside a conversation that lies in a database: its owner drops what it does not know. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../lib/hash.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import type { From } from '../convert.ts'
import { besideIn } from '../sidecar-file.ts'

/** Ids come from logs, and not every one can be the name of a file. */
export function sidecarOfRow(directory: string, agent: AgentId, id: string): string {
  const name = /^[\w-]{1,64}$/.test(id) ? id : sha256(id).slice(0, 32)
  return join(directory, 'sidecars', agent, `${name}.x.json`)
}

/** For a source that is a row, and was put there by us. */
export function besideRow({ source, beside }: From, session: Session, directory: string): Pick<From, 'beside'> {
  const path = sidecarOfRow(directory, session.agent, session.native_id)
  if (beside || source.key === undefined || !existsSync(path)) return {}
  return { beside: besideIn(path) }
}

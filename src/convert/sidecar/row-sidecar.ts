/** What was kept beside a conversation that lies in a database: its owner drops what it does not know. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../lib/hash.ts'
import type { AgentId } from '../../model/ids.ts'
import type { Session } from '../../model/session.ts'
import type { ConversionSource } from '../convert.ts'
import { createSidecarRestorer } from './read-sidecar.ts'

/** Ids come from logs, and not every one can be the name of a file. */
export function rowSidecarPath(directory: string, agent: AgentId, id: string): string {
  const name = /^[\w-]{1,64}$/.test(id) ? id : sha256(id).slice(0, 32)
  return join(directory, 'sidecars', agent, `${name}.x.json`)
}

/** For a source that is a row, and was put there by us. */
export function findRowSidecar(
  { source, beside: restore }: ConversionSource,
  session: Session,
  directory: string,
): Pick<ConversionSource, 'beside'> {
  const path = rowSidecarPath(directory, session.agent, session.native_id)
  if (restore || source.key === undefined || !existsSync(path)) return {}
  return { beside: createSidecarRestorer(path) }
}

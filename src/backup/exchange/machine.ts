/** Names this machine in exchange folders. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { sha256 } from '../../lib/hash.ts'
import { fieldsOf, parseStructure, stringOf } from '../../lib/unknown-values.ts'
import type { MachineName } from './manifest.ts'

const MACHINE_FILE = 'machine.json'
/** Linux gives each installation an id. */
const INSTALLATION_ID_FILE = '/etc/machine-id'

/** A data directory that was copied to another machine gets a new id there: two machines must not write as one. */
export function thisMachineName(directory: string): MachineName {
  const path = join(directory, MACHINE_FILE)
  const name = hostname().replaceAll(/[^\w.-]+/g, '-') || 'machine'
  const installation = isFile(INSTALLATION_ID_FILE) ? readRegularFile(INSTALLATION_ID_FILE).toString().trim() : ''
  const host = sha256(`${installation}\n${name}`).slice(0, 16)
  const known = isFile(path) ? fieldsOf(parseStructure(readRegularFile(path).toString())) : undefined
  const id = stringOf(known?.['id'])
  if (id !== undefined && known?.['host'] === host) return { id, name }
  const fresh = { id: randomUUID(), host }
  replaceOwnFile(path, `${JSON.stringify(fresh)}\n`)
  return { id: fresh.id, name }
}

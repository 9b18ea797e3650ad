/** Backs up logs with their side files. Small ones share a transaction, because each transaction waits for the disk. */
import type { Agent, Source } from '../agents/agent.ts'
import { isNonLinkFile, statOf } from '../lib/files/safe-fs.ts'
import type { BackupDatabase } from './backup-database.ts'
import { BYTES_PER_TRANSACTION, type FileBackup, type FileBackupOptions, type FileLocation } from './file-backups.ts'
import { firstSession } from './first-session.ts'

export interface FileToBackUp {
  readonly agent: Agent
  readonly source: Source
}

/** One result for each file, in order. */
export async function backUpFiles(
  found: readonly FileToBackUp[],
  database: BackupDatabase,
  options: FileBackupOptions,
): Promise<readonly FileBackup[]> {
  const logs: Log[] = []
  for (const one of found) logs.push(await prepare(one, database))
  const done: FileBackup[] = []
  for (const group of groupsOf(logs)) {
    const backUpGroup = (): void => {
      for (const log of group) done.push(log.done ?? backUpLog(log, database, options))
    }
    if (group.length > 1) database.files.together(backUpGroup)
    else backUpGroup()
  }
  return done
}

interface Log {
  readonly location: FileLocation
  readonly sides: readonly string[]
  /** Bytes to read. */
  readonly bytes: number
  /** Set where nothing is to be written. */
  readonly done?: FileBackup
}

/** A side file may be written after the log's last line. */
const SIDE_FILES_SETTLED_MS = 86_400_000

async function prepare({ agent, source }: FileToBackUp, database: BackupDatabase): Promise<Log> {
  const { agent: id, path, root } = source
  const location = { agent: id, path, ...(root !== undefined && { root }) }
  const skipped: FileBackup = { change: 'skipped', stored_bytes: 0 }
  if (await isForgottenFile(agent, source, database)) return { location, sides: [], bytes: 0, done: skipped }
  const file = database.files.current(location)
  const unchanged: FileBackup | undefined = file && { change: 'unchanged', file, stored_bytes: 0 }
  const sides: string[] = []
  if (agent.originals?.sideFiles && !(file && Date.now() - file.modified > SIDE_FILES_SETTLED_MS))
    // A link could lead to any file of the user.
    for await (const side of agent.originals.sideFiles(source)) if (isNonLinkFile(side)) sides.push(side)
  const isNew = (side: string): boolean => database.files.current({ agent: id, path: side }) === undefined
  if (unchanged && !sides.some(isNew)) return { location, sides, bytes: 0, done: unchanged }
  return { location, sides, bytes: [path, ...sides].reduce((sum, one) => sum + (statOf(one)?.size ?? 0), 0) }
}

/** A file of one session that the user forgot. Read only if it is not in the backup yet. */
async function isForgottenFile(agent: Agent, source: Source, database: BackupDatabase): Promise<boolean> {
  if (agent.hasManySessions) return false
  const forgotten = database.forgotten()
  if (forgotten.length === 0 || database.files.has(source.agent, source.path)) return false
  const header = await firstSession(agent, source)
  return forgotten.some(({ claim, first_record }) => claim === header?.id && first_record === header.first_record)
}

/** Large logs, and those with nothing to write, are alone. */
function* groupsOf(logs: readonly Log[]): Generator<readonly Log[]> {
  let group: Log[] = []
  let bytes = 0
  for (const log of logs) {
    const isAlone = log.done !== undefined || log.bytes >= BYTES_PER_TRANSACTION
    if (group.length > 0 && (isAlone || bytes + log.bytes > BYTES_PER_TRANSACTION)) {
      yield group
      group = []
      bytes = 0
    }
    if (isAlone) yield [log]
    else {
      group.push(log)
      bytes += log.bytes
    }
  }
  if (group.length > 0) yield group
}

function backUpLog({ location, sides }: Log, { files }: BackupDatabase, options: FileBackupOptions): FileBackup {
  const done = files.backUp(location, options)
  if (!done.file) return done
  const { agent } = location
  let { stored_bytes } = done
  for (const path of sides) stored_bytes += files.backUp({ agent, path, side_of: done.file.id }, options).stored_bytes
  return { ...done, stored_bytes }
}

/** Puts a session where `claude --resume` finds it: in the folder of its directory, under its id. */
import { basename, join } from 'node:path'
import { isRunning } from '../../lib/files/file-holder.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile, isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment } from '../agent.ts'
import { assertHome, assertIdle, deliverFile, type FileDelivery, notASession } from '../kit/deliver-file.ts'
import { AGENT_ID, homesOf } from './find.ts'
import { projectFolderFor } from './project-folder.ts'

const LABEL = 'Claude Code'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const homes = homesOf(options.environment)
  const home = homes.find(isFolder) ?? homes[0] ?? ''
  assertHome(LABEL, home)
  const id = sessionIdIn(file)
  const target: FileDelivery = {
    ...{ agent: AGENT_ID, label: LABEL, home },
    existing: existingLog(home, id),
    path: join(projectFolderFor(home, options.cwd), `${id}.jsonl`),
    assertIdle: (path) => assertNotInUse(path, home),
    lastTimeIn,
  }
  return deliverFile(file, target, options)
}

const SESSION_ID = /"sessionId":"([0-9a-f-]{36})"/i

function sessionIdIn(file: string): string {
  const id = SESSION_ID.exec(readRegularFile(file).toString('latin1', 0, 1_000_000))?.[1]
  if (id === undefined) throw notASession(file, LABEL)
  return id
}

/** In whichever folder: a session moves when it enters a worktree. */
function existingLog(home: string, id: string): string | undefined {
  const projects = join(home, 'projects')
  return listEntries(projects)
    .map(({ name }) => join(projects, name, `${id}.jsonl`))
    .find(isFile)
}

/** The greatest time of a record. Records are not in the order of their times. */
function lastTimeIn(path: string): Instant | undefined {
  let last: Instant | undefined
  for (const [, stamp] of readRegularFile(path)
    .toString('latin1')
    .matchAll(/"timestamp":"([^"]{20,30})"/g)) {
    const at = toInstant(stamp)
    if (at !== undefined && (last === undefined || at > last)) last = at
  }
  return last
}

/** A running Claude Code continues writing to the old file. It notes its process while it runs. */
function assertNotInUse(path: string, home: string): void {
  assertIdle(path, LABEL)
  const holder = processOf(basename(path, '.jsonl'), home)
  if (holder !== undefined) assertIdle(path, LABEL, holder)
}

function processOf(session: string, home: string): string | undefined {
  for (const { name } of listEntries(join(home, 'sessions'))) {
    const pid = Number(/^(\d+)\.json$/.exec(name)?.[1])
    if (Number.isNaN(pid) || !isRunning(pid)) continue
    try {
      const text = readRegularFile(join(home, 'sessions', name)).toString('utf8')
      if (nonEmptyStringOf(fieldsOf(parseStructure(text))?.['sessionId']) === session) return `process ${pid}`
    } catch {}
  }
  return undefined
}

/** Throws `busy` while Claude Code uses the log at this path. */
export function assertLogIdle(path: string, environment: HostEnvironment): void {
  for (const home of homesOf(environment)) if (path.startsWith(home)) assertNotInUse(path, home)
}

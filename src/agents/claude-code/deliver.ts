/** Puts a session where `claude --resume` finds it: in the folder of its directory, under its id. */
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { copyFileAtomically } from '../../lib/files/atomic-file.ts'
import { findFileHolder } from '../../lib/files/file-holder.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile, isFolder, listEntries } from '../../lib/files/safe-fs.ts'
import { fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment } from '../agent.ts'
import { assertUnchanged, fileFingerprint, withWriteErrors } from '../kit/source-file.ts'
import { AGENT_ID, homesOf } from './find.ts'
import { projectFolderFor } from './project-folder.ts'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = homesOf(options.environment).find(isFolder)
  if (home === undefined) {
    const wanted = homesOf(options.environment)[0] ?? ''
    throw new AppError(
      'not_found',
      `${wanted} does not exist: Claude Code has not been used on this machine yet.`,
      `${wanted} がありません。このマシンではまだ Claude Code が使われていません。`,
    )
  }
  const id = sessionIdIn(file)
  const before = existingLog(home, id)
  if (before !== undefined) {
    assertReplaceable(before, options)
    assertNotInUse(before, home)
  }
  const path = before ?? join(projectFolderFor(home, options.cwd), `${id}.jsonl`)
  const delivery = {
    source: { agent: AGENT_ID, path, root: home },
    isReplacement: before !== undefined,
    repairs: [],
    warnings: [],
  }
  if (options.isDry) return { ...delivery, undo: async () => {} }
  return { ...delivery, ...withWriteErrors(path, () => placeLog(file, path, before, home, options)) }
}

function placeLog(
  file: string,
  path: string,
  before: string | undefined,
  home: string,
  options: DeliverOptions,
): Pick<Delivery, 'undo'> {
  const copy = before === undefined ? undefined : options.backup.file(before)
  if (before !== undefined) assertNotInUse(before, home)
  copyFileAtomically(file, path)
  const fingerprint = fileFingerprint(path)
  return {
    undo: async () =>
      withWriteErrors(path, () => {
        assertUnchanged(path, fingerprint)
        assertNotInUse(path, home)
        if (copy === undefined) rmSync(path)
        else copyFileAtomically(copy, path)
      }),
  }
}

const SESSION_ID = /"sessionId":"([0-9a-f-]{36})"/i

function sessionIdIn(file: string): string {
  const id = SESSION_ID.exec(readRegularFile(file).toString('latin1', 0, 1_000_000))?.[1]
  if (id === undefined)
    throw new AppError(
      'nothing_readable',
      `${file} does not name a session of Claude Code.`,
      `${file} に Claude Code のセッション ID がありません。`,
    )
  return id
}

/** In whichever folder: a session moves when it enters a worktree. */
function existingLog(home: string, id: string): string | undefined {
  const projects = join(home, 'projects')
  return listEntries(projects)
    .map(({ name }) => join(projects, name, `${id}.jsonl`))
    .find(isFile)
}

function assertReplaceable(path: string, { lastAt, mayReplace }: DeliverOptions): void {
  const lastTime = lastMessageTime(path)
  if (lastTime !== undefined && (lastAt === undefined || lastTime > lastAt))
    throw new AppError(
      'busy',
      `Claude Code has a newer version of this session (${lastTime}): ${path}. Continue that one.`,
      `Claude Code で ${lastTime} に続きが進んでいます。${path} のほうが新しいので、その会話を続けてください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `Claude Code already has this session: ${path}. Pass --replace to replace it.`,
      `Claude Code にはこの会話がすでにあります: ${path}。--replace で置き換えられます。`,
    )
}

/** The greatest time of a record. Records are not in the order of their times. */
function lastMessageTime(path: string): Instant | undefined {
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
  const holder = findFileHolder(path, 'writing') ?? processOf(basename(path, '.jsonl'), home)
  if (holder === undefined) return
  throw new AppError(
    'busy',
    `Claude Code (${holder}) has this session open: ${path}. Quit it and try again.`,
    `Claude Code（${holder}）がこのセッションを開いています: ${path}。終了してから、もう一度お試しください。`,
  )
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Throws `busy` while Claude Code uses the log at this path. */
export function assertLogIdle(path: string, environment: HostEnvironment): void {
  for (const home of homesOf(environment)) if (path.startsWith(home)) assertNotInUse(path, home)
}

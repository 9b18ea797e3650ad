/**
 * Forks and sessions that an old version resumed begin with the records of their origin, with the same uuids. No record
 * names the origin: a log that begins with the same uuid as another one of any project belongs to the same family.
 */
import { closeSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openRegularFile } from '../../lib/files/regular-file.ts'
import { listEntries, statOf } from '../../lib/files/safe-fs.ts'
import { type Fields, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import type { Source } from '../agent.ts'
import { originalPathOf } from '../kit/place-message.ts'
import { isAgentLog, isStoredLog, parentInPath, parentLogOf, projectFolderOf } from './paths.ts'

/** A record of a log, by its uuid. */
export interface KnownRecord {
  /** From 1. */
  readonly line: number
  readonly record: Fields
}

/** Every line of a file. Reads on while `visit` returns true. Files that cannot be read have no lines. */
function visitLines(path: string, visit: (line: Buffer, number: number) => boolean): void {
  let fd: number | undefined
  try {
    fd = openRegularFile(path)
    let rest = Buffer.alloc(0)
    let number = 1
    // Often the first lines are enough.
    for (let size = FIRST_CHUNK_BYTES; ; size = CHUNK_BYTES) {
      const chunk = Buffer.allocUnsafe(size)
      const length = readSync(fd, chunk)
      if (length === 0) return void visit(rest, number)
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk.subarray(0, length)]) : chunk.subarray(0, length)
      let at = 0
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, at)) {
        if (!visit(bytes.subarray(at, end), number++)) return
        at = end + 1
      }
      rest = bytes.subarray(at)
    }
  } catch {
    return
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const FIRST_CHUNK_BYTES = 1 << 14
const CHUNK_BYTES = 1 << 18
const SNAPSHOT = /^\{"type":"file-history-snapshot","messageId":"([^"]+)"/
const UUID_KEY = Buffer.from('"uuid":"')

/** The id of a chain record stands before its time. */
const TIME_AFTER = /^"uuid":"([^"\\]+)","timestamp":"([^"\\]+)"/

/** A record's id and time, without parsing it where they stand as Claude Code writes them. */
function idOf(line: Buffer): { readonly uuid: string; readonly time: string } | undefined {
  for (let at = line.indexOf(UUID_KEY); at >= 0; at = line.indexOf(UUID_KEY, at + 1)) {
    const [, uuid, time] = TIME_AFTER.exec(line.toString('latin1', at, at + 120)) ?? []
    if (uuid !== undefined && time !== undefined) return { uuid, time }
  }
  const record = recordIn(line)
  const uuid = nonEmptyStringOf(record?.['uuid'])
  return uuid === undefined ? undefined : { uuid, time: nonEmptyStringOf(record?.['timestamp']) ?? '' }
}

const recordIn = (line: Buffer): Fields | undefined =>
  line.includes(UUID_KEY) ? (parseStructure(line.toString('utf8')) as Fields | undefined) : undefined

const uuidIn = (line: Buffer): string | undefined => idOf(line)?.uuid

/** The records before a line, by their uuid. Of several with the same uuid the first. */
export function recordsBefore(path: string, line: number): ReadonlyMap<string, KnownRecord> {
  return remember(`${path}\n${line}`, () => {
    const found = new Map<string, KnownRecord>()
    visitLines(path, (bytes, number) => {
      if (number >= line) return false
      const record = recordIn(bytes)
      const uuid = nonEmptyStringOf(record?.['uuid'])
      if (record && uuid !== undefined && !found.has(uuid)) found.set(uuid, { line: number, record })
      return true
    })
    return found
  })
}

interface Family {
  /** The logs that were there before this one, oldest first. Their records are not this log's own. */
  readonly earlier: readonly string[]
  /** The one of them that shares most records: this log was forked from it. */
  readonly origin: string
}

/** @param uuid of the log's first record that has one. Undefined for a log of its own */
export function familyOf(source: Pick<Source, 'path' | 'shown'>, uuid: string): Family | undefined {
  const path = originalPathOf(source)
  if (!isStoredLog(path)) return undefined
  const logs = longestCopies([...logsThatBeginWith(uuid, path).filter((one) => one !== path), path], source)
  if (logs.size < 2) return undefined
  return remember([path, ...logs.values()].join('\n'), () => {
    const members = [...logs.values()].map((one) =>
      one === path ? { ...describeMember(source.path), path } : describeMember(one),
    )
    const shared = sharedUuids(members)
    members.sort((a, b) => compareMembers(a, b, shared))
    const at = members.findIndex((one) => basename(one.path) === basename(path))
    const own = new Set(members[at]?.uuids)
    const earlier = members.slice(0, at)
    let origin: Member | undefined
    let most = 0
    for (const one of earlier) {
      const common = one.uuids.filter((other) => own.has(other)).length
      if (common > most) {
        most = common
        origin = one
      }
    }
    return origin && { earlier: earlier.map((one) => one.path), origin: origin.path }
  })
}

/**
 * One log per name. The same name in several folders is one session that moved or was copied; its longest log says where
 * it belongs, also for the others, so that all of them agree.
 */
function longestCopies(paths: readonly string[], source: Pick<Source, 'path' | 'shown'>): ReadonlyMap<string, string> {
  const own = originalPathOf(source)
  const longest = new Map<string, string>()
  const sizeOf = (path: string): number => statOf(path === own ? source.path : path)?.size ?? 0
  for (const path of paths) {
    const name = basename(path)
    const other = longest.get(name)
    const more = other === undefined ? 1 : sizeOf(path) - sizeOf(other)
    if (other === undefined || more > 0 || (more === 0 && path < other)) longest.set(name, path)
  }
  return longest
}

/** The uuids of all records of these logs. */
export const uuidsOf = (paths: readonly string[]): ReadonlySet<string> =>
  remember(paths.join('\n'), () => new Set(paths.flatMap((path) => describeMember(path).uuids)))

interface Member {
  readonly path: string
  /** In order. */
  readonly uuids: readonly string[]
  /** Positions among them at which records without a uuid stand: these are never copied. */
  readonly states: readonly number[]
  /** Prompts of which the program noted the state of all files before it answered. */
  readonly snapshots: readonly string[]
  /** Times of the records, as they are written. */
  readonly times: readonly string[]
  /** Started as a copy: by the program that runs sessions in the background, or for a sub-agent. */
  readonly startsAsCopy: boolean
}

function describeMember(path: string): Member {
  const uuids: string[] = []
  const states: number[] = []
  const snapshots: string[] = []
  const times: string[] = []
  let startsAsCopy = false
  visitLines(path, (line) => {
    const id = idOf(line)
    if (!id) {
      if (line.length > 2) states.push(uuids.length)
      const prompt = SNAPSHOT.exec(line.toString('latin1', 0, 200))?.[1]
      if (prompt !== undefined) snapshots.push(prompt)
      return true
    }
    if (uuids.length === 0 && recordIn(line)?.['sessionKind'] === 'bg') startsAsCopy = true
    uuids.push(id.uuid)
    times.push(id.time)
    return true
  })
  return { path, uuids, states, snapshots, times, startsAsCopy }
}

function sharedUuids(members: readonly Member[]): ReadonlySet<string> {
  const seen = new Map<string, number>()
  for (const { uuids } of members) for (const uuid of new Set(uuids)) seen.set(uuid, (seen.get(uuid) ?? 0) + 1)
  return new Set([...seen].filter(([, count]) => count > 1).map(([uuid]) => uuid))
}

/** The origin first. By what the records say; times of files change when they are copied. */
function compareMembers(a: Member, b: Member, shared: ReadonlySet<string>): number {
  const [x, y] = [factsOf(a, shared), factsOf(b, shared)]
  return (
    Number(a.startsAsCopy || isAgentLog(a.path)) - Number(b.startsAsCopy || isAgentLog(b.path)) ||
    // While the shared part was written, only its own log got records without a uuid.
    Number(y.isWrittenWithShared) - Number(x.isWrittenWithShared) ||
    // A fork goes on; its origin may have ended.
    Number(x.ownFrom !== '') - Number(y.ownFrom !== '') ||
    x.ownFrom.localeCompare(y.ownFrom) ||
    (statOf(a.path)?.birthtimeMs ?? 0) - (statOf(b.path)?.birthtimeMs ?? 0) ||
    (a.path < b.path ? -1 : 1)
  )
}

function factsOf({ uuids, states, snapshots, times }: Member, shared: ReadonlySet<string>) {
  const firstOwn = uuids.findIndex((uuid) => !shared.has(uuid))
  const end = firstOwn < 0 ? uuids.length : firstOwn
  return {
    // Both may begin with such records, and write them after the shared part.
    isWrittenWithShared: states.some((at) => at > 0 && at < end) || snapshots.some((prompt) => shared.has(prompt)),
    ownFrom: firstOwn < 0 ? '' : (times[firstOwn] ?? ''),
  }
}

function logsThatBeginWith(uuid: string, path: string): readonly string[] {
  if (parentInPath(path) !== undefined) {
    const parent = parentLogOf(path)
    return firstUuidOf(parent) === uuid ? [parent] : []
  }
  const folder = projectFolderOf(path)
  const above = dirname(folder)
  // A fork that continues in a worktree is in the folder of that directory.
  return basename(above) === 'projects'
    ? (listingOf(above, projectsBelow).get(uuid) ?? [])
    : (listingOf(folder, only).get(uuid) ?? [])
}

const only = (folder: string): readonly string[] => [folder]

const projectsBelow = (folder: string): readonly string[] => listEntries(folder).map(({ name }) => join(folder, name))

/** Logs by the first uuid in them. There can be thousands of logs, and each of them asks once. */
function listingOf(key: string, foldersOf: (key: string) => readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = listings.get(key)
  const start = performance.now()
  if (known && start < known.until) return known.logs
  const logs = new Map<string, string[]>()
  for (const folder of foldersOf(key))
    for (const { name } of listEntries(folder)) {
      if (!isStoredLog(name) || isAgentLog(name)) continue
      const path = join(folder, name)
      const first = firstUuidOf(path)
      if (first === undefined) continue
      const others = logs.get(first)
      if (others) others.push(path)
      else logs.set(first, [path])
    }
  const end = performance.now()
  if (listings.size >= MAX_LISTINGS) listings.clear()
  listings.set(key, { logs, until: end + Math.max(LISTING_MS, (end - start) * 10) })
  return logs
}

const listings = new Map<string, { readonly logs: ReadonlyMap<string, readonly string[]>; readonly until: number }>()
const LISTING_MS = 1000
const MAX_LISTINGS = 64

/** How far to look for a log's first record with a uuid. */
const MAX_FIRST_LINES = 200

/** `size` is that of a log without a uuid, which may get one. */
const firstUuids = new Map<string, { readonly uuid: string | undefined; readonly size: number }>()

/** Remembered, because it never changes while the file is the same. */
function firstUuidOf(path: string): string | undefined {
  const stat = statOf(path)
  if (!stat) return undefined
  const key = `${path}\n${stat.ino}\n${stat.birthtimeMs}`
  const known = firstUuids.get(key)
  if (known && (known.uuid !== undefined || known.size === stat.size)) return known.uuid
  let uuid: string | undefined
  visitLines(path, (line, number) => {
    uuid = uuidIn(line)
    return uuid === undefined && number < MAX_FIRST_LINES
  })
  if (firstUuids.size >= MAX_FIRST_UUIDS) firstUuids.clear()
  firstUuids.set(key, { uuid, size: stat.size })
  return uuid
}

const MAX_FIRST_UUIDS = 100_000

const remembered = new Map<string, { readonly made: unknown }>()
const MAX_REMEMBERED = 4

/** A log is read record by record, and each asks for the same. Forgotten after a moment, because files change. */
function remember<T>(key: string, make: () => T): T {
  const known = remembered.get(key)
  if (known) return known.made as T
  const made = make()
  if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? '')
  if (remembered.size === 0) setTimeout(() => remembered.clear(), FORGET_AFTER_MS).unref()
  remembered.set(key, { made })
  return made
}

const FORGET_AFTER_MS = 2000

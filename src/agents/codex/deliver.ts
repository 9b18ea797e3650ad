/** Puts a log where Codex finds it: below `sessions`, under the name that Codex would give it. */
import { appendFileSync, closeSync, constants, fstatSync, ftruncateSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isCompressed, readNow } from '../../lib/bytes.ts'
import { placeFile } from '../../lib/disk/place-file.ts'
import { entriesOf, isFile, isFolder, statOf } from '../../lib/files/look.ts'
import { openRegular, refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { writeError } from '../../lib/files/write-error.ts'
import { fieldsOf, parseStructure, wordOf } from '../../lib/object.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, instant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, Environment, Warning } from '../agent.ts'
import { AGENT_ID, logOfThread, NAMES, roots } from './find.ts'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const home = roots(options.environment)[0] ?? ''
  if (!isFolder(home))
    throw new AppError(
      'not_found',
      `there is no ${home}: Codex has not been used on this machine yet.`,
      `${home} がありません。このマシンではまだ Codex が使われていません。`,
    )
  const { id, at } = headerOf(file)
  const before = threadIn(home, id)
  if (before !== undefined) refuse(before, options)
  const path = before ?? join(home, 'sessions', ...folderOf(at), nameOf(id, at))
  const source = { agent: AGENT_ID, path, root: home }
  const delivery = {
    source,
    isReplacement: before !== undefined,
    repairs: [],
    warnings: warningsFor(id, home, options),
  }
  if (options.isDry) return { ...delivery, undo: async () => {} }
  return { ...delivery, ...explained(path, () => put(file, path, before, { id, home }, options)) }
}

interface Thread {
  readonly id: string
  readonly home: string
}

function put(
  file: string,
  path: string,
  before: string | undefined,
  thread: Thread,
  options: DeliverOptions,
): Pick<Delivery, 'undo'> {
  const copy = before === undefined ? undefined : options.backup.file(before)
  placeFile(file, path)
  const print = printOf(path)
  const takeBack = (): void => (copy === undefined ? rmSync(path) : placeFile(copy, path))
  const unname = orElse(takeBack, () => nameThread(thread, options))
  return {
    undo: async () =>
      explained(path, () => {
        if (printOf(path) !== print)
          throw new AppError(
            'busy',
            `${path} was written by another program meanwhile, so it stays as it is.`,
            `${path} はその間に別のプログラムが書き換えたため、そのままにしました。`,
          )
        takeBack()
        unname()
      }),
  }
}

/** What fails is taken back before it is told. */
function orElse<T>(takeBack: () => void, work: () => T): T {
  try {
    return work()
  } catch (error) {
    takeBack()
    throw error
  }
}

/** Of the first line, which is the session's header. */
function headerOf(file: string): { readonly id: string; readonly at: Date } {
  const line = fieldsOf(parseStructure(firstLine(file)))
  const payload = fieldsOf(line?.['payload'])
  const id = wordOf(payload?.['id'])
  const at = instant(payload?.['timestamp'])
  if (line?.['type'] !== 'session_meta' || id === undefined || at === undefined)
    throw new AppError(
      'nothing_readable',
      `${file} does not begin as a log of Codex does.`,
      `${file} の先頭が Codex のログの形をしていません。`,
    )
  return { id, at: new Date(at) }
}

/** Headers hold instructions, which may be long. */
const LONGEST = 8_000_000
const CHUNK = 65_536

function firstLine(file: string): string {
  const fd = openRegular(file)
  try {
    const pieces: Buffer[] = []
    for (let at = 0; at < LONGEST; at += CHUNK) {
      const read = readNow(fd, at, CHUNK)
      const end = read.indexOf(10)
      pieces.push(end < 0 ? read : read.subarray(0, end))
      if (end >= 0 || read.length === 0) break
    }
    return Buffer.concat(pieces).toString()
  } finally {
    closeSync(fd)
  }
}

function threadIn(home: string, id: string): string | undefined {
  const path = logOfThread({ agent: AGENT_ID, path: home, root: home }, id.toLowerCase(), true)
  return path !== undefined && isFile(path) ? path : undefined
}

function refuse(path: string, { lastAt, mayReplace }: DeliverOptions): void {
  if (isCompressed(path))
    throw new AppError(
      'bad_usage',
      `Codex has this session already, compressed: ${path}. Go on with that one.`,
      `Codex にはこの会話が圧縮された形ですでにあります: ${path}。その会話を続けてください。`,
    )
  const there = lastSaid(path)
  if (there !== undefined && (lastAt === undefined || there > lastAt))
    throw new AppError(
      'busy',
      `Codex went on with it at ${there}: ${path} is newer. Go on with that one.`,
      `Codex で ${there} に続きが進んでいます。${path} のほうが新しいので、その会話を続けてください。`,
    )
  if (!mayReplace)
    throw new AppError(
      'bad_usage',
      `Codex has this session already: ${path}. --replace puts this one in its place.`,
      `Codex にはこの会話がすでにあります: ${path}。--replace で置き換えられます。`,
    )
}

/** By the time of the last line; where that is too long to be looked for, by the file's. */
function lastSaid(path: string): Instant | undefined {
  const fd = openRegular(path)
  try {
    const { size, mtime } = fstatSync(fd)
    // A line with pictures may have many megabytes.
    for (let length = CHUNK * 16; length <= LONGEST_TAIL; length *= 8) {
      const tail = readNow(fd, Math.max(0, size - length), Math.min(size, length))
      const stamps = [...tail.toString('latin1').matchAll(/^\{"timestamp":"([^"]+)"/gm)]
      const last = instant(stamps.at(-1)?.[1])
      if (last !== undefined || length >= size) return last
    }
    return instant(mtime.toISOString())
  } finally {
    closeSync(fd)
  }
}

const LONGEST_TAIL = CHUNK * 16 * 8 * 8

/** Folders and names are in local time, as on the wall. */
const folderOf = (at: Date): readonly string[] => [String(at.getFullYear()), two(at.getMonth() + 1), two(at.getDate())]

function nameOf(id: string, at: Date): string {
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join('-')
  return `rollout-${folderOf(at).join('-')}T${clock}-${id}.jsonl`
}

const two = (number: number): string => String(number).padStart(2, '0')

/** Codex takes the last line that names a thread. Answers how to take it back. */
function nameThread({ id, home }: Thread, { title, now }: DeliverOptions): () => void {
  if (title === undefined) return () => {}
  const path = join(home, NAMES)
  refuseSpecialAt(path)
  const before = isFile(path) ? statSync(path).size : 0
  const line = JSON.stringify({ id, thread_name: title, updated_at: now.toISOString() })
  const takeBack = (): void => {
    const size = isFile(path) ? statSync(path).size : 0
    if (size > before && size - before <= Buffer.byteLength(line)) cut(path, before)
  }
  orElse(takeBack, () => appendFileSync(path, `${line}\n`, { mode: 0o600 }))
  const after = statSync(path).size
  return () => {
    if (statOf(path)?.size !== after) return
    if (before === 0) rmSync(path)
    else cut(path, before)
  }
}

function cut(path: string, size: number): void {
  const fd = openRegular(path, constants.O_RDWR)
  try {
    ftruncateSync(fd, size)
  } finally {
    closeSync(fd)
  }
}

/** Some versions look for sessions in a database of their own, which only they can write. */
function warningsFor(id: string, home: string, { environment }: DeliverOptions): readonly Warning[] {
  const name = entriesOf(sqliteHome(environment) ?? home).find((entry) => /^state_\d+\.sqlite$/.test(entry.name))?.name
  if (name === undefined) return []
  const what = `Codex lists sessions from ${name}, which does not know this one yet. Versions that look nowhere else do not show it in their list; codex resume ${id} finds it in all others.`
  return [{ code: 'unlisted', what }]
}

const sqliteHome = ({ variables }: Environment): string | undefined => wordOf(variables['CODEX_SQLITE_HOME'])

function printOf(path: string): string {
  const found = statOf(path)
  return found ? `${found.size}:${found.mtimeMs}:${found.ino}` : ''
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw writeError(path, error)
  }
}

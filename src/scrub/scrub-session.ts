/** Removes secrets from an agent's own store: finds them, writes and checks a copy, and only then replaces the original. */
import { createHash } from 'node:crypto'
import { chmodSync, rmSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Agent, HostEnvironment, Source } from '../agents/agent.ts'
import type { BackupDatabase } from '../backup/backup-database.ts'
import { firstSession } from '../backup/first-session.ts'
import { withBackupIdentity } from '../backup/readable-source.ts'
import { assertIdle } from '../backup/restore-file.ts'
import { copyToBackupFile, writeBackupFile, writeFileAtomically } from '../lib/files/atomic-file.ts'
import { findProcessNamed } from '../lib/files/file-holder.ts'
import { readRegularFile } from '../lib/files/regular-file.ts'
import { isFile, isNonLinkFile, statOf } from '../lib/files/safe-fs.ts'
import { createTempFolder } from '../lib/files/temp-files.ts'
import { unzstd } from '../lib/files/zstd.ts'
import { zstdFrame } from '../lib/files/zstd-compress.ts'
import { parseStructure } from '../lib/unknown-values.ts'
import { AppError } from '../model/error.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import type { Redaction } from '../redact/placeholders.ts'
import { SecretFinder } from '../redact/secret-finder.ts'
import { SecretReplacer } from '../redact/secret-replacer.ts'
import type { ScrubbedFile, ScrubRecord } from './scrub-records.ts'

export interface ScrubTarget {
  readonly agent: Agent
  readonly source: Source
  readonly session: Session
}

export interface ScrubContext {
  readonly environment: HostEnvironment
  /** Folder for the originals. */
  readonly originals: string
  readonly now: Date
}

/** What the agent's store holds now, also if the session is usually read from its backup. Throws `not_found`. */
export async function liveSource(agent: Agent, source: Source, id: string, database: BackupDatabase): Promise<Source> {
  const { bytes: _, first_entry: __, ...live } = source
  const { session } = await withBackupIdentity(agent, live, database)
  if (source.shown === undefined && (session === undefined || session === id)) return live
  const { shown = source.path } = source
  throw new AppError(
    'not_found',
    `${shown} no longer holds ${id}; only a backup is left. Run fumi forget to remove it.`,
    `${shown} に会話 ${id} はもうなく、バックアップだけが残っています。取り除くには fumi forget を使ってください。`,
  )
}

/** What a scrub would write, complete and checked. Nothing has changed yet. */
export interface ScrubPlan {
  readonly target: ScrubTarget
  readonly secrets: readonly Redaction[]
  /** Files with secrets, or one row. */
  readonly changes: readonly ScrubChange[]
}

export interface ScrubChange {
  readonly path: string
  /** SHA-256 of what is there now. */
  readonly before: string
  readonly bytes: Buffer
}

/** Throws AppError if the store cannot be scrubbed, `busy` while its program uses it. */
export async function planScrub(target: ScrubTarget, { environment }: ScrubContext): Promise<ScrubPlan> {
  const { agent, source } = target
  assertUnused(target, environment)
  const finder = new SecretFinder()
  await finder.learn(messagesOf(agent, source))
  const replacer = new SecretReplacer(finder)
  const changes: ScrubChange[] = []
  for (const { path, bytes } of await readOriginals(target)) {
    const scrubbed = await scrubFile(path, bytes, replacer)
    if (!scrubbed.equals(bytes)) changes.push({ path, before: hashOf(bytes), bytes: scrubbed })
  }
  const own = changes.find(({ path }) => path === source.path)
  if (own) await checkScrubbed(target, own.bytes)
  return { target, secrets: replacer.replaced(), changes }
}

interface OriginalBytes {
  readonly path: string
  readonly bytes: Buffer
}

/** A row, or a log and its side files. */
async function readOriginals({ agent, source }: ScrubTarget): Promise<readonly OriginalBytes[]> {
  const { path, key } = source
  if (!isFile(path))
    throw new AppError(
      'not_found',
      `${path} has no such session any more; only a backup is left. Run fumi forget to remove it.`,
      `${path} にこの会話はもうなく、バックアップだけが残っています。取り除くには fumi forget を使ってください。`,
    )
  if (key !== undefined) {
    const captured = await agent.volatile?.capture(source)
    if (captured?.kind !== 'conversation')
      throw new AppError(
        'bad_usage',
        `fumi cannot write into the store of ${agent.label}: ${path}.`,
        `${agent.label} の保存先には書き込めません: ${path}`,
      )
    return [{ path, bytes: Buffer.from(captured.capture.bytes) }]
  }
  if (/\.gz$/i.test(path))
    throw new AppError(
      'bad_usage',
      `${path} is compressed. Decompress it first, for example with gzip -d.`,
      `${path} は圧縮されています。先に gzip -d などで展開してください。`,
    )
  const originals: OriginalBytes[] = [{ path, bytes: readRegularFile(path) }]
  if (agent.originals?.sideFiles)
    // A link could lead to any file of the user.
    for await (const side of agent.originals.sideFiles(source))
      if (isNonLinkFile(side)) originals.push({ path: side, bytes: readRegularFile(side) })
  return originals
}

/** A compressed file is compressed again only if it changes. */
async function scrubFile(path: string, bytes: Buffer, replacer: SecretReplacer): Promise<Buffer> {
  if (!/\.zst$/i.test(path)) return scrubBytes(bytes, replacer)
  const text = await decompress(path, bytes)
  const scrubbed = await scrubBytes(text, replacer)
  return scrubbed.equals(text) ? bytes : zstdFrame(scrubbed)
}

async function decompress(path: string, bytes: Buffer): Promise<Buffer> {
  const pieces: Buffer[] = []
  let isComplete = true
  for await (const piece of unzstd(Readable.from([bytes]), () => {
    isComplete = false
  }))
    pieces.push(Buffer.from(piece))
  if (isComplete) return Buffer.concat(pieces)
  throw new AppError(
    'unusable_data',
    `${path} cannot be decompressed completely, so it was left unchanged. fumi forget --erase removes what fumibako has of it.`,
    `${path} は最後まで展開できないため、そのままにしました。fumibako にある分は fumi forget --erase で取り除けます。`,
  )
}

/** One JSON document, or lines. Bytes that are not text stay as they are. */
async function scrubBytes(bytes: Buffer, replacer: SecretReplacer): Promise<Buffer> {
  const text = bytes.toString('utf8')
  const encoding = Buffer.byteLength(text) === bytes.length && Buffer.from(text).equals(bytes) ? 'utf8' : 'latin1'
  const decoded = encoding === 'utf8' ? text : bytes.toString('latin1')
  if (parseStructure(decoded)) return Buffer.from(await replacer.replaceIn(decoded), encoding)
  const lines: string[] = []
  for (const line of decoded.split('\n')) lines.push(await replacer.replaceIn(line))
  return Buffer.from(lines.join('\n'), encoding)
}

/** Reads the result as its agent does. Throws `cannot_write` with nothing changed. */
async function checkScrubbed({ agent, source }: ScrubTarget, bytes: Buffer): Promise<void> {
  const folder = createTempFolder('scrub')
  try {
    let changed: Source = { ...source, bytes }
    if (source.key === undefined) {
      const copy = join(folder.path, basename(source.path))
      writeFileAtomically(copy, [bytes], { mode: 0o600 })
      changed = { agent: source.agent, path: copy }
    }
    if (agent.volatile && source.key !== undefined && !agent.volatile.loadable(bytes)) throw unreadableError(source)
    const [before, after] = [await shapeOf(agent, source), await shapeOf(agent, changed)]
    if (before !== after) throw unreadableError(source)
  } finally {
    folder.remove()
  }
}

const unreadableError = ({ path }: Source): AppError =>
  new AppError(
    'cannot_write',
    `Without its secrets, ${path} would not read back as the same session; nothing was changed.`,
    `秘密情報を除くと ${path} は同じ会話として読めなくなるため、何も変更していません。`,
  )

/** Ids, roles and calls of all messages, and the number of issues. */
async function shapeOf(agent: Agent, source: Source): Promise<string> {
  const hash = createHash('sha256')
  for await (const batch of agent.read(source))
    for (const one of batch) {
      if (one.kind === 'issue') hash.update(`issue ${one.issue.code}\n`)
      if (one.kind !== 'message') continue
      const { id, role, source_type, segments, tool_call } = one.message
      hash.update(`${id} ${role} ${source_type} ${segments.length} ${tool_call?.status ?? ''}\n`)
    }
  return hash.digest('hex')
}

async function* messagesOf(agent: Agent, source: Source): AsyncGenerator<NormalizedMessage> {
  for await (const batch of agent.read(source, { includeSource: true }))
    for (const one of batch) if (one.kind === 'message') yield one.message
}

/** Saves the originals, then replaces them: all of them or none. Throws `busy` if one changed since the plan. */
export async function applyScrub(plan: ScrubPlan, context: ScrubContext): Promise<ScrubRecord> {
  const { target, changes } = plan
  const { agent, source, session } = target
  const { environment, originals, now } = context
  assertUnused(target, environment)
  const base = { session: session.id, agent: source.agent, at: now.toISOString(), path: source.path }
  if (source.key !== undefined) return { ...base, key: source.key, files: [await replaceRow(target, changes, context)] }
  const done: ScrubbedFile[] = []
  try {
    for (const { path, before, bytes } of changes) {
      assertIdle(agent, path, environment)
      const original = copyToBackupFile(originals, path, now)
      done.push({ path, original, hash: hashOf(bytes) })
      if (hashOf(readRegularFile(original)) !== before) throw changedError(path)
      writeKeepingTimes(path, bytes)
      if (hashOf(readRegularFile(path)) !== hashOf(bytes)) throw changedError(path)
    }
  } catch (error) {
    for (const { path, original, hash } of done) {
      if (isFile(original) && hashOf(readRegularFile(path)) === hash) writeKeepingTimes(path, readRegularFile(original))
      rmSync(original, { force: true })
    }
    throw error
  }
  return { ...base, files: done }
}

async function replaceRow(
  { agent, source }: ScrubTarget,
  [change]: readonly ScrubChange[],
  { originals, now }: ScrubContext,
): Promise<ScrubbedFile> {
  if (!change || !agent.volatile) throw unreadableError(source)
  let original: string | undefined
  await agent.volatile.install(source, change.bytes, {
    now,
    keepTimes: true,
    backup(row) {
      if (hashOf(row) !== change.before) throw changedError(source.path)
      original = writeBackupFile(originals, row, now)
    },
  })
  const after = await agent.volatile.capture(source)
  if (after?.kind !== 'conversation' || original === undefined) throw changedError(source.path)
  return { path: source.path, original, hash: hashOf(after.capture.bytes) }
}

/** A session is recognized by its first record. If it held a secret, the scrubbed file is registered as the same session. */
export async function keepIdentity({ target }: ScrubPlan, database: BackupDatabase): Promise<void> {
  const { agent, source, session } = target
  if (source.key !== undefined) return
  const scrubbed = await firstSession(agent, { agent: source.agent, path: source.path })
  if (!scrubbed || scrubbed.first_record === session.first_record) return
  const known = database
    .relocated()
    .find(({ claim, first_record }) => claim === scrubbed.id && first_record === session.first_record)
  const original = known?.original ?? session.first_record
  database.addRelocated({ claim: scrubbed.id, first_record: scrubbed.first_record, original })
}

/** Puts the originals back. Throws AppError with nothing changed, `busy` if something was written there since. */
export async function undoScrub(agent: Agent, record: ScrubRecord, environment: HostEnvironment): Promise<void> {
  const { files, key, path } = record
  if (key !== undefined) {
    const [row] = files
    const source: Source = { agent: record.agent, path, key }
    const now = await agent.volatile?.capture(source)
    if (!row || now?.kind !== 'conversation' || hashOf(now.capture.bytes) !== row.hash) throw changedError(path)
    await agent.volatile?.install(source, readRegularFile(row.original), {
      now: new Date(),
      keepTimes: true,
      backup() {},
    })
    return
  }
  for (const { path: file, hash } of files) {
    assertIdle(agent, file, environment)
    if (!isFile(file) || hashOf(readRegularFile(file)) !== hash) throw changedError(file)
  }
  for (const { path: file, original } of files) writeKeepingTimes(file, readRegularFile(original))
}

const changedError = (path: string): AppError =>
  new AppError(
    'busy',
    `${path} was changed in the meantime and stays as it is. Try again when its program is closed.`,
    `${path} はその間に変更されたため、そのままにしました。プログラムを終了してから、もう一度実行してください。`,
  )

/** A program may write without keeping the file open, so none may run. */
function assertUnused({ agent, source, session }: ScrubTarget, environment: HostEnvironment): void {
  if (source.key === undefined) assertIdle(agent, source.path, environment)
  const program = agent.resume?.(session).program
  const running = program === undefined || program === 'fumi' ? undefined : findProcessNamed(program)
  if (running === undefined) return
  throw new AppError(
    'busy',
    `${program} is running (process ${running}) and may write to ${source.path}. Close it, then try again.`,
    `${program} が実行中（プロセス ${running}）で、${source.path} に書き込む可能性があります。終了してから、もう一度実行してください。`,
  )
}

/** Programs sort and delete sessions by these times. */
function writeKeepingTimes(path: string, bytes: Uint8Array): void {
  const before = statOf(path)
  writeFileAtomically(path, [bytes])
  if (!before) return
  chmodSync(path, before.mode & 0o7777)
  utimesSync(path, before.atime, before.mtime)
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

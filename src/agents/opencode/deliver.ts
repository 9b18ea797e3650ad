/** Puts a session into OpenCode's store through `opencode import`. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFolder } from '../../lib/files/safe-fs.ts'
import { createTempFolder } from '../../lib/files/temp-files.ts'
import { fieldsOf, nonEmptyStringOf, parseStructure } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { type Instant, toInstant } from '../../model/ids.ts'
import type { DeliverOptions, Delivery, HostEnvironment, InstallOptions, Source } from '../agent.ts'
import { assertReplaceable, notASession } from '../kit/deliver-file.ts'
import { capture, makeLoadable } from './capture.ts'
import { infoOf } from './record.ts'
import { assertInstalled, deleteSession, importSession } from './run-opencode.ts'
import { AGENT_ID, databaseOf, isDatabasePath, probe } from './store.ts'

const LABEL = 'OpenCode'

export async function deliver(file: string, options: DeliverOptions): Promise<Delivery> {
  const { environment, cwd, isDry } = options
  const document = fieldsOf(parseStructure(readRegularFile(file).toString('utf8')))
  const id = document && nonEmptyStringOf(infoOf(document)['id'])
  if (id === undefined) throw notASession(file, LABEL)
  assertInstalled(environment)
  const source: Source = { agent: AGENT_ID, path: databaseOf(environment), key: id }
  const before = await storedBytes(source)
  if (before) assertReplaceable({ label: LABEL, place: id, lastTime: lastTimeIn(before) }, options)
  const delivery = { source, isReplacement: before !== undefined, repairs: [], warnings: [] }
  if (isDry) return { ...delivery, undo: async () => {} }
  if (before) {
    options.backup.row(source, before)
    await deleteSession(id, cwd, environment)
  }
  await importSession(file, cwd, environment)
  const print = await probe(source)
  return {
    ...delivery,
    async undo() {
      if ((await probe(source)) !== print) throw changedError(id)
      await deleteSession(id, cwd, environment)
      if (before) await importBytes(before, cwd, environment)
    },
  }
}

const changedError = (id: string): AppError =>
  new AppError(
    'busy',
    `OpenCode changed the session ${id} in the meantime, so it was left unchanged.`,
    `セッション ${id} はその間に OpenCode が書き換えたため、そのままにしました。`,
  )

/** Undefined if the store has no such session. */
async function storedBytes(source: Source): Promise<Buffer | undefined> {
  const captured = await capture(source)
  return captured.kind === 'conversation' ? Buffer.from(captured.capture.bytes) : undefined
}

const TIMES = /"(?:created|completed)":(\d{12,14})\b/g

/** Of its messages. */
function lastTimeIn(bytes: Buffer): Instant | undefined {
  const text = bytes.toString('utf8', Math.max(0, bytes.indexOf('"messages":[')))
  const times = Array.from(text.matchAll(TIMES), ([, time]) => Number(time))
  return times.length === 0 ? undefined : toInstant(times.reduce((a, b) => Math.max(a, b)))
}

async function importBytes(bytes: Uint8Array, cwd: string, environment: HostEnvironment): Promise<void> {
  const ready = makeLoadable(bytes)
  if (!ready)
    throw new AppError(
      'nothing_readable',
      'the backup is not a session that OpenCode can import.',
      'バックアップの内容は、OpenCode が取り込めるセッションではありません。',
    )
  const folder = createTempFolder('opencode')
  try {
    const file = join(folder.path, 'session.json')
    writeFileAtomically(file, [ready.text], { mode: 0o600 })
    await importSession(file, cwd, environment)
  } finally {
    folder.remove()
  }
}

/** Restores a backup. The session is continued in its own directory unless another is given. */
export async function install(source: Source, bytes: Uint8Array, options: InstallOptions): Promise<Source> {
  const environment: HostEnvironment = { platform: process.platform, home: homedir(), variables: process.env }
  const info = infoOf(fieldsOf(parseStructure(Buffer.from(bytes).toString('utf8'))) ?? {})
  const cwd = options.directory ?? nonEmptyStringOf(info['directory'])
  const store = databaseOf(environment)
  if (source.key === undefined || cwd === undefined || (isDatabasePath(source.path) && source.path !== store))
    throw new AppError(
      'bad_usage',
      `OpenCode imports sessions only into ${store}. Restore to a file instead, with --to.`,
      `OpenCode がセッションを取り込む先は ${store} だけです。--to でファイルに復元してください。`,
    )
  if (!isFolder(cwd))
    throw new AppError(
      'bad_usage',
      `directory not found: ${cwd}. Choose another with --here, or restore to a file with --to.`,
      `${cwd} というディレクトリーはこのマシンにありません。--here で別の場所にするか、--to でファイルに復元してください。`,
    )
  assertInstalled(environment)
  const placed: Source = { agent: AGENT_ID, path: store, key: source.key }
  const before = await storedBytes(placed)
  if (before) {
    options.backup(before)
    await deleteSession(source.key, cwd, environment)
  }
  await importBytes(bytes, cwd, environment)
  return placed
}

/** Checks the machine: Node.js and SQLite versions, the data directory, the disk. */
import { accessSync, constants, readFileSync, type Stats, type StatsFs, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { statOf } from '../lib/files/safe-fs.ts'
import { INSTALL_HINT, loadSqlite, openSqlite } from '../lib/sqlite/driver.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { type DoctorContext, type DoctorFinding, formatBytes, toFinding } from './finding.ts'

const MIN_NODE_VERSION = 20
export const SQLITE_SUBJECT = 'sqlite'

export function* checkVersions(): Generator<DoctorFinding> {
  const node = process.versions.node
  const major = Number(node.split('.')[0])
  const fumibako = readOwnVersion()
  const { platform, arch } = process
  yield toFinding(
    'versions',
    major < MIN_NODE_VERSION ? 'problem' : 'ok',
    phrase(
      `fumibako ${fumibako}, Node.js ${node} on ${platform} ${arch}`,
      `fumibako ${fumibako}、Node.js ${node}（${platform} ${arch}）`,
    ),
    { fumibako, node, platform, arch },
    major < MIN_NODE_VERSION
      ? phrase(
          `Install Node.js ${MIN_NODE_VERSION} or newer.`,
          `Node.js ${MIN_NODE_VERSION} 以上をインストールしてください。`,
        )
      : undefined,
  )
  yield checkSqlite()
}

function readOwnVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** The native module is built for certain Node versions, so an update of Node can break it. */
function checkSqlite(): DoctorFinding {
  const loaded = loadSqlite()
  if (loaded.kind === 'failed')
    return toFinding(
      SQLITE_SUBJECT,
      'problem',
      phrase(`SQLite cannot be loaded: ${loaded.reason}`, `SQLite を読み込めません: ${loaded.reason}`),
      { sqlite: null },
      INSTALL_HINT,
    )
  const db = openSqlite(':memory:')
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
  db.close()
  return toFinding(SQLITE_SUBJECT, 'ok', phrase(`SQLite ${version}`, `SQLite ${version}`), { sqlite: version })
}

const LOW_SPACE_BYTES = 1e9
const MIN_SPACE_BYTES = 50e6

export function* checkDirectory({ directory }: DoctorContext): Generator<DoctorFinding> {
  const stat = statOf(directory)
  yield stat ? checkExisting(directory, stat) : checkAbsent(directory)
  yield* checkSpace(nearestFolder(directory))
}

const directoryFinding = (state: DoctorFinding['state'], what: Phrase, path: string, todo?: Phrase): DoctorFinding =>
  toFinding('data directory', state, what, { path }, todo)

function checkAbsent(path: string): DoctorFinding {
  if (canWrite(nearestFolder(path)))
    return directoryFinding(
      'note',
      phrase(
        `${path} does not exist yet; it is created when needed`,
        `${path} はまだありません。最初に書き込むときに作ります`,
      ),
      path,
    )
  return directoryFinding(
    'problem',
    phrase(`cannot create ${path}`, `${path} を作れません`),
    path,
    phrase(
      `Make ${nearestFolder(path)} writable, or set FUMI_HOME.`,
      `${nearestFolder(path)} に書き込めるようにするか、FUMI_HOME を設定してください。`,
    ),
  )
}

function checkExisting(path: string, stat: Stats): DoctorFinding {
  if (!stat.isDirectory())
    return directoryFinding(
      'problem',
      phrase(`${path} is not a folder`, `${path} がフォルダーではありません`),
      path,
      phrase('Move the file away, or set FUMI_HOME.', 'ファイルを別の場所へ移すか、FUMI_HOME を設定してください。'),
    )
  if (!canWrite(path))
    return directoryFinding(
      'problem',
      phrase(`no permission to write to ${path}`, `${path} に書き込む権限がありません`),
      path,
      phrase(`Check its owner and mode: ls -ld ${path}`, `所有者とモードを確認してください: ls -ld ${path}`),
    )
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    return directoryFinding(
      'problem',
      phrase(`${path} is open to other users`, `${path} をほかの利用者も開けます`),
      path,
      phrase(`Restrict it: chmod 700 ${path}`, `権限を狭めてください: chmod 700 ${path}`),
    )
  return directoryFinding('ok', phrase(path, path), path)
}

function* checkSpace(folder: string): Generator<DoctorFinding> {
  const disk = fileSystemOf(folder)
  if (!disk) return
  const { bavail, bsize, type } = disk
  const free = bavail * bsize
  const isLow = free < LOW_SPACE_BYTES
  yield toFinding(
    'disk',
    free < MIN_SPACE_BYTES ? 'problem' : isLow ? 'note' : 'ok',
    phrase(`${formatBytes(free)} free`, `空き ${formatBytes(free)}`),
    { free_bytes: free },
    isLow
      ? phrase(
          'Free some space; fumi cannot save data on a full disk.',
          '空きを作ってください。書き込めないものは失われます。',
        )
      : undefined,
  )
  const network = NETWORK_FILE_SYSTEMS[type]
  if (network === undefined) return
  yield toFinding(
    'disk',
    'note',
    phrase(
      `${folder} is on a network file system (${network}), where databases are slow and locks are unreliable`,
      `${folder} はネットワークファイルシステム（${network}）にあります。データベースが遅く、ロックも確実ではありません`,
    ),
    { network },
    phrase(
      'Set FUMI_HOME to a folder on a disk of this machine.',
      'FUMI_HOME に、このマシンのディスクにあるフォルダーを設定してください。',
    ),
  )
}

/** Undefined on file systems that do not report it. */
function fileSystemOf(folder: string): StatsFs | undefined {
  try {
    return statfsSync(folder)
  } catch {
    return undefined
  }
}

/** Keys are the numbers that Linux uses. */
const NETWORK_FILE_SYSTEMS: { readonly [type: number]: string } = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function nearestFolder(path: string): string {
  return statOf(path)?.isDirectory() || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** The data directory: is it there, whose is it, may we write, is there room. */
import { accessSync, constants, type Stats, type StatsFs, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { statOf } from '../lib/files/look.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { amount } from './amount.ts'
import type { Finding, Patient } from './finding.ts'

const LITTLE_ROOM = 1e9
const NO_ROOM = 50e6

export function* checkDirectory({ directory }: Patient): Generator<Finding> {
  const stat = statOf(directory)
  yield stat ? state(directory, stat) : absent(directory)
  yield* room(nearest(directory))
}

const finding = (state: Finding['state'], what: Phrase, path: string, todo?: Phrase): Finding => ({
  about: 'data directory',
  state,
  what,
  ...(todo !== undefined && { todo }),
  facts: { path },
})

function absent(path: string): Finding {
  if (mayWrite(nearest(path)))
    return finding(
      'note',
      phrase(
        `${path} does not exist yet: it is made when something is first written`,
        `${path} はまだありません。最初に書き込むときに作ります`,
      ),
      path,
    )
  return finding(
    'problem',
    phrase(`${path} cannot be made`, `${path} を作れません`),
    path,
    phrase(
      `Make ${nearest(path)} writable, or set FUMI_HOME.`,
      `${nearest(path)} に書き込めるようにするか、FUMI_HOME を設定してください。`,
    ),
  )
}

function state(path: string, stat: Stats): Finding {
  if (!stat.isDirectory())
    return finding(
      'problem',
      phrase(`${path} is no folder`, `${path} がフォルダーではありません`),
      path,
      phrase('Move the file away, or set FUMI_HOME.', 'ファイルを別の場所へ移すか、FUMI_HOME を設定してください。'),
    )
  if (!mayWrite(path))
    return finding(
      'problem',
      phrase(`${path} may not be written by this user`, `${path} に書き込む権限がありません`),
      path,
      phrase(`Check its owner and mode: ls -ld ${path}`, `所有者とモードを確認してください: ls -ld ${path}`),
    )
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    return finding(
      'problem',
      phrase(`${path} is open to other users`, `${path} をほかの利用者も開けます`),
      path,
      phrase(`Close it: chmod 700 ${path}`, `権限を狭めてください: chmod 700 ${path}`),
    )
  return finding('ok', phrase(path, path), path)
}

function* room(folder: string): Generator<Finding> {
  const disk = diskOf(folder)
  if (!disk) return
  const { bavail, bsize, type } = disk
  const free = bavail * bsize
  const little = free < LITTLE_ROOM
  yield {
    about: 'disk',
    state: free < NO_ROOM ? 'problem' : little ? 'note' : 'ok',
    what: phrase(`${amount(free)} free`, `空き ${amount(free)}`),
    ...(little && {
      todo: phrase(
        'Free some space: what cannot be written is lost.',
        '空きを作ってください。書き込めないものは失われます。',
      ),
    }),
    facts: { free_bytes: free },
  }
  const network = NETWORKS[type]
  if (network === undefined) return
  yield {
    about: 'disk',
    state: 'note',
    what: phrase(
      `${folder} lies on a network file system (${network}), where databases are slow and locks not sure`,
      `${folder} はネットワークファイルシステム（${network}）にあります。データベースが遅く、ロックも確実ではありません`,
    ),
    todo: phrase(
      'Set FUMI_HOME to a folder on a disk of this machine.',
      'FUMI_HOME に、このマシンのディスクにあるフォルダーを設定してください。',
    ),
    facts: { network },
  }
}

/** Some file systems cannot tell. */
function diskOf(folder: string): StatsFs | undefined {
  try {
    return statfsSync(folder)
  } catch {
    return undefined
  }
}

/** By the number that Linux has for each. */
const NETWORKS: { readonly [type: number]: string } = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function nearest(path: string): string {
  return statOf(path)?.isDirectory() || dirname(path) === path ? path : nearest(dirname(path))
}

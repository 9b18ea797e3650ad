/** The data directory: is it there, whose is it, may we write, is there room. */
import { accessSync, constants, type Stats, type StatsFs, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { amount } from './amount.ts'
import type { Finding, Patient } from './finding.ts'

const LITTLE_ROOM = 1e9
const NO_ROOM = 50e6

export function* checkDirectory({ directory }: Patient): Generator<Finding> {
  const stat = statOf(directory)
  yield stat ? state(directory, stat) : absent(directory)
  yield* room(nearest(directory))
}

const finding = (state: Finding['state'], what: string, path: string, todo?: string): Finding => ({
  about: 'data directory',
  state,
  what,
  ...(todo !== undefined && { todo }),
  facts: { path },
})

function absent(path: string): Finding {
  if (mayWrite(nearest(path)))
    return finding('note', `${path} does not exist yet: it is made when something is first written`, path)
  return finding('problem', `${path} cannot be made`, path, `Make ${nearest(path)} writable, or set FUMI_HOME.`)
}

function state(path: string, stat: Stats): Finding {
  if (!stat.isDirectory())
    return finding('problem', `${path} is no folder`, path, 'Move the file away, or set FUMI_HOME.')
  if (!mayWrite(path))
    return finding(
      'problem',
      `${path} may not be written by this user`,
      path,
      `Check its owner and mode: ls -ld ${path}`,
    )
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    return finding('problem', `${path} is open to other users`, path, `Close it: chmod 700 ${path}`)
  return finding('ok', path, path)
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
    what: `${amount(free)} free`,
    ...(little && { todo: 'Free some space: what cannot be written is lost.' }),
    facts: { free_bytes: free },
  }
  const network = NETWORKS[type]
  if (network === undefined) return
  yield {
    about: 'disk',
    state: 'note',
    what: `${folder} lies on a network file system (${network}), where databases are slow and locks not sure`,
    todo: 'Set FUMI_HOME to a folder on a disk of this machine.',
    facts: { network },
  }
}

/** Nothing also where it may not be seen, or a file stands in the way. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
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

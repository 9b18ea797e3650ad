/** Finds the process that has a file open, as far as the system reports it. */
import { closeSync, constants, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { openRegularFile } from './regular-file.ts'
import { isFile, listEntries } from './safe-fs.ts'
import { isSystemError } from './system-error.ts'

/** A program that reads the file does not count; one that writes it does. */
export type FileUse = 'open' | 'writing'

/**
 * For example `codex, process 4711`. Undefined if no other process has the file open or the system does not report it.
 * Only Linux does, without processes of other users.
 */
export function findFileHolder(path: string, use: FileUse): string | undefined {
  if (process.platform !== 'linux' || !isFile(path)) return undefined
  const target = realpathSync(path)
  for (const { name: pid } of listEntries('/proc'))
    if (/^\d+$/.test(pid) && Number(pid) !== process.pid && holds(pid, target, use))
      return `${processNameOf(pid)}process ${pid}`
  return undefined
}

function holds(pid: string, target: string, use: FileUse): boolean {
  return listEntries(`/proc/${pid}/fd`).some(({ name }) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`) === target && (use === 'open' || isOpenForWriting(pid, name))
    } catch {
      return false
    }
  })
}

function isOpenForWriting(pid: string, descriptor: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8'))?.[1]
  return flags !== undefined && (Number.parseInt(flags, 8) & (constants.O_WRONLY | constants.O_RDWR)) !== 0
}

/** The id of another process that runs a program. Undefined if there is none or the system does not report it. */
export function findProcessNamed(program: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  return listEntries('/proc').find(
    ({ name: pid }) => /^\d+$/.test(pid) && Number(pid) !== process.pid && processNameOf(pid) === `${program}, `,
  )?.name
}

/** Whether a process exists, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return isSystemError(error) && error.code === 'EPERM'
  }
}

/** Followed by a comma and a space; may be empty. */
export function processNameOf(pid: string): string {
  try {
    // A process chooses its own name: keep only plain letters.
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8')
      .replaceAll(/[^\w.-]+/g, ' ')
      .trim()
    return name === '' ? '' : `${name}, `
  } catch {
    return ''
  }
}

/** On BSD and macOS, opening with it takes a shared lock on the file. Node has no constant for it. */
const O_SHLOCK = 0x10

/**
 * Whether another program holds a lock on its lock file, which it removes when it ends. A killed program leaves the
 * file without a lock. If this cannot be determined, the file counts as locked.
 */
export function isLockFileHeld(path: string): boolean {
  if (!isFile(path)) return false
  if (process.platform === 'linux') return findFileHolder(path, 'open') !== undefined
  if (process.platform !== 'darwin' && process.platform !== 'freebsd') return true
  try {
    closeSync(openRegularFile(path, constants.O_RDONLY | O_SHLOCK))
    return false
  } catch {
    return isFile(path)
  }
}

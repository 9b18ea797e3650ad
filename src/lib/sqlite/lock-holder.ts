/** Which other process holds a lock on a database, where the system tells. */
import { readFileSync, statSync } from 'node:fs'

/** For a person: `q, process 4711`. Nothing where the system does not tell, or nobody holds it any more. */
export function findLockHolder(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const locksId = procLocksId(statSync(path, { bigint: true }))
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, kind, , , pid, at] = line.trim().split(/\s+/)
      if (kind !== 'POSIX' || at !== locksId || pid === undefined || Number(pid) === process.pid) continue
      return `${processNameOf(pid)}process ${pid}`
    }
  } catch {
    // A file system or a container that hides it.
  }
  return undefined
}

/** As `/proc/locks` names a file: major and minor number of its device in hexadecimal, then its inode. */
function procLocksId({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  const toHexPair = (part: bigint): string => part.toString(16).padStart(2, '0')
  return `${toHexPair(major)}:${toHexPair(minor)}:${ino}`
}

function processNameOf(pid: string): string {
  try {
    // A process chooses its own name: only plain letters of it are repeated.
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8')
      .replaceAll(/[^\w.-]+/g, ' ')
      .trim()
    return name === '' ? '' : `${name}, `
  } catch {
    return ''
  }
}

/** Looks for processes by a word in their command line, whichever namespace they live in. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** False with a line where there is no /proc to look at. */
export function hasProc(): boolean {
  if (existsSync('/proc/self/cmdline')) return true
  console.log('skipped: there is no /proc, so processes cannot be looked for')
  return false
}

/** Whether bubblewrap works here, with a line where it does not. */
export function hasBubblewrap(): boolean {
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']
  if (process.platform === 'linux' && spawnSync('bwrap', args).status === 0) return true
  console.log('skipped: bubblewrap does not work here, so nothing is run in a sandbox')
  return false
}

let last = 0
/** A length of time for `sleep` that no other process has. */
export const uniqueSleep = (): string => `${100_000 + (process.pid % 10_000)}.${Date.now() % 100_000}${++last}`

/** Numbers of the processes whose command line has this word; those that have ended and wait to be reaped do not count. */
export function findProcesses(word: string): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

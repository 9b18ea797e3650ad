/** Checkpoints of a project with 50,000 files. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listCheckpoints } from '../../src/chat/checkpoint/checkpoints.ts'
import { isGitInstalled } from '../../src/lib/git/run-git.ts'
import { checkpointProject, value } from '../chat/checkpoint/checkpoint-project.ts'

const installed = await isGitInstalled()
if (!installed) process.stderr.write('skipped: git is not installed\n')

const FOLDERS = 250
const FILES = 200

test.skipIf(!installed)('50,000 files are saved, compared and restored', async ({ annotate }) => {
  const at = checkpointProject()
  for (let folder = 0; folder < FOLDERS; folder++) {
    mkdirSync(join(at.work, `d${folder}`))
    for (let file = 0; file < FILES; file++)
      writeFileSync(join(at.work, `d${folder}`, `f${file}.txt`), `${folder} ${file}\n`)
  }
  const began = performance.now()
  expect(await at.checkpoints.start(true)).toEqual({ kind: 'on', how: 'new' })
  await at.turn('some', () => {
    for (let folder = 0; folder < FOLDERS; folder++) at.write(`d${folder}/f7.txt`, 'changed\n')
    at.write('new.txt', 'new\n')
  })
  expect(listCheckpoints(at.journal.state).at(-1)?.files).toEqual({ added: 1, modified: FOLDERS, deleted: 0 })
  value(await at.checkpoints.restore('0', true))
  expect([at.read('d0/f7.txt'), at.read('d249/f7.txt'), at.read('new.txt')]).toEqual(['0 7\n', '249 7\n', undefined])
  await at.turn('all', () => {
    for (let folder = 0; folder < FOLDERS; folder++)
      for (let file = 0; file < FILES; file++) at.write(`d${folder}/f${file}.txt`, `${file} ${folder} again\n`)
  })
  value(await at.checkpoints.restore('0', false))
  expect(at.read('d100/f199.txt')).toBe('100 199\n')
  await annotate(
    `${FOLDERS * FILES} files in ${((performance.now() - began) / 1000).toFixed(0)} s: three checkpoints, two restores`,
  )
})

/** Converts the fixtures of the agents that write lines to every form and back. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()
const FOLDERS = [
  ['gemini', '.'],
  ['qwen', '.'],
  ['pi', '.'],
  ['copilot', '.'],
  ['opencode', '.'],
  ['amazon-q', 'kiro-files'],
] as const

test.each(FOLDERS)('fixtures of %s in %s', async (agent, folderName) => {
  const fixtures = join(import.meta.dirname, '..', '..', 'src', 'agents', agent, 'fixtures', folderName)
  const matrix = new Matrix()
  for await (const one of conversationsIn(fixtures, 20)) {
    if (one.agent.id !== agent) continue
    await tryAll(one, folder, matrix)
  }
  expect(matrix.failures).toEqual([])
})

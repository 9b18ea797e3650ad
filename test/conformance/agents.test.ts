/** Converts the fixtures of the agents that write lines to every form and back. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()
const AGENTS = ['gemini', 'qwen', 'pi']

test.each(AGENTS)('fixtures of %s', async (agent) => {
  const fixtures = join(import.meta.dirname, '..', '..', 'src', 'agents', agent, 'fixtures')
  const matrix = new Matrix()
  for await (const one of conversationsIn(fixtures, 20)) {
    if (one.agent.id !== agent) continue
    await tryAll(one, folder, matrix)
  }
  expect(matrix.failures).toEqual([])
})

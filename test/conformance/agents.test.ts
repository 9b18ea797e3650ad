/** Converts fixtures and shared sessions of each agent with a line writer to every form and back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()
const AGENTS = ['gemini', 'qwen']

test.each(AGENTS)('fixtures of %s', async (agent) => {
  const fixtures = join(import.meta.dirname, '..', '..', 'src', 'agents', agent, 'fixtures')
  const matrix = new Matrix()
  for await (const one of conversationsIn(fixtures, 20)) {
    if (one.agent.id !== agent) continue
    await tryAll(one, folder, matrix)
  }
  expect(matrix.failures).toEqual([])
})

test.each(AGENTS)('shared sessions of %s', async (agent) => {
  const home = join(sharedFolder('corpus', 'agents', agent) ?? '', 'home')
  const matrix = new Matrix()
  if (existsSync(home))
    for await (const one of conversationsIn(home, Number(process.env['FUMI_CONVERSATIONS'] ?? 3)))
      await tryAll(one, folder, matrix)
  expect(matrix.failures).toEqual([])
})

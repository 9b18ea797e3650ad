/** Converts conversations to every form and back: a sample of `npm run conformance`. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { journal } from './arbitrary-journals.ts'
import { chatFile, codexLog, oldCodexLog } from './arbitrary-logs.ts'
import { claudeSession } from './arbitrary-sessions.ts'
import { qState, statesBeside, wildState } from './arbitrary-states.ts'
import { conversationOf, conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()

test.each([
  { kind: 'logs of Codex', made: codexLog, suffix: '.jsonl' },
  { kind: 'logs of Codex before the envelope', made: oldCodexLog, suffix: '.jsonl' },
  { kind: 'sessions of Claude Code', made: claudeSession, suffix: '.jsonl' },
  { kind: 'files of chat messages', made: chatFile, suffix: '.json' },
  { kind: 'journals', made: journal, suffix: '.jsonl' },
  { kind: 'states of Amazon Q', made: qState, suffix: '.json' },
  { kind: 'states of Amazon Q that no program would write', made: wildState, suffix: '.json' },
])('generated $kind', async ({ made: created, suffix }) => {
  await fc.assert(
    fc.asyncProperty(created, async (text) => {
      const conversation = await conversationOf(text, suffix, folder)
      if (!conversation) return
      const matrix = new Matrix()
      await tryAll(conversation, folder, matrix)
      expect(matrix.failures).toEqual([])
    }),
    { numRuns: 3 },
  )
})

test('a sample of the Amazon Q test states', async () => {
  const matrix = new Matrix()
  for await (const conversation of statesBeside(folder, 20)) await tryAll(conversation, folder, matrix)
  expect(matrix.failures).toEqual([])
})

const corpus = sharedFolder('corpus')
/** Each is converted more than a hundred times. */
const MAX_BYTES = 50_000

test.runIf(corpus)('a sample of real structures of each agent', async () => {
  const matrix = new Matrix()
  for await (const conversation of conversationsIn(corpus ?? '', 1, MAX_BYTES))
    await tryAll(conversation, folder, matrix)
  expect(matrix.failures).toEqual([])
})

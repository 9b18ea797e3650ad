/** `npm run conformance`: everything there is, thousands of generated conversations, and the page that tells of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { journal } from './arbitrary-journals.ts'
import { chatFile, codexLog } from './arbitrary-logs.ts'
import { qState, statesBeside, wildState } from './arbitrary-states.ts'
import { conversationOf, conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()

const RUNS = 1000
const MAX_CONVERSATIONS = 200

test('every conversation converts to every form and back', async () => {
  const real = new Matrix()
  const generated = new Matrix()
  for (const [made, suffix] of [
    [codexLog, '.jsonl'],
    [chatFile, '.json'],
    [journal, '.jsonl'],
    [qState, '.json'],
    [wildState, '.json'],
  ] as const)
    for (const text of fc.sample(made, { numRuns: RUNS, seed: 20260102 })) {
      const conversation = await conversationOf(text, suffix, folder)
      if (conversation) await tryAll(conversation, folder, generated)
    }
  const corpus = sharedFolder('corpus')
  if (corpus) for await (const one of conversationsIn(corpus, MAX_CONVERSATIONS)) await tryAll(one, folder, real)
  for await (const one of statesBeside(folder)) await tryAll(one, folder, real)
  const page = pageOf(real, generated)
  console.log(page)
  if (corpus) writeFileSync(join(import.meta.dirname, '..', '..', 'docs', 'conformance.md'), page)
  expect([...real.failures, ...generated.failures]).toEqual([])
})

const pageOf = (real: Matrix, generated: Matrix): string => `# Conformance

What \`npm run conformance\` found. Every conversation is written in every form, read again and written back in its own form
([how](decisions/0012-conversion.md)).

- **Back again, exact**: with extensions, what its agent would read is what it was: for Codex the list of response items, ids aside; for files of
  messages role, content, calls and ids of results; for Amazon Q every entry and every field of the state; for everybody else every record. Logs that hold what their agent never wrote are mended
  instead, and not counted here.
- **Without extensions**: the same texts, and the same results of the same calls. Where a form may not end with a question, what follows the last
  answer is left out and reported.
- **Losses all reported**: with extensions nothing is kept nowhere; without them every record is in the account.
- **No error in its checker**: the target's checker, which knows nothing of the writer, finds no error; messages for a server are written for its
  profile. **Own records refused today**: an agent's own records come back as they were, with the errors that the checker finds in its own file
  as well. **Warnings** are counted one by one.

## Real structures

${real.table()}
## Generated

${generated.table()}`

/** `npm run conformance`: all conversations, thousands of generated ones, and the page with the results. */
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

\`npm run conformance\` writes every conversation in every format, reads the result, and converts it back ([how](decisions/0012-conversion.md)). The tables show its results.

- **Round trip exact**: with extensions, the conversation that comes back equals the original. For Codex: the list of response items, except ids. For message files: role, content, calls and ids of results. For Amazon Q: every entry and every field of the
  state. For the others: every record. Logs with content that their agent never writes are repaired, and not counted here.
- **Same content without extensions**: the texts are the same, and so are the results of the same calls. If a format must not end with a question, everything after the last answer is left out and reported.
- **Losses reported**: with extensions nothing is lost; without them the report covers every record.
- **No errors**: the target's checker, which is written independently of the writer, finds no error. Messages for a server are written for its profile.
- **Own records with errors**: an agent's own records come back unchanged, including errors that the checker already finds in the original file.
- **Warnings** are counted one by one.

## Real structures

${real.table()}
## Generated

${generated.table()}`

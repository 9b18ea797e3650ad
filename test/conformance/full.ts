/** `npm run conformance`: all conversations, thousands of generated ones, and the page with the results. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { programsSection } from '../live/publish.ts'
import { tempFolder } from '../support/codex-log.ts'
import { sharedFolder } from '../support/shared-material.ts'
import { journal } from './arbitrary-journals.ts'
import { chatFile, codexLog, oldCodexLog } from './arbitrary-logs.ts'
import { claudeSession } from './arbitrary-sessions.ts'
import { qState, statesBeside, wildState } from './arbitrary-states.ts'
import { conversationOf, conversationsIn, tryAll } from './corpus.ts'
import { Matrix } from './matrix.ts'

const folder = tempFolder()

const RUNS = 1000
const MAX_CONVERSATIONS = Number(process.env['FUMI_CONFORMANCE_MOST'] ?? 200)
/** One of the two tables; the other stays as it is. */
const PART = process.env['FUMI_CONFORMANCE']

test('every conversation converts to every form and back', async () => {
  const real = new Matrix()
  const generated = new Matrix()
  const generators = [
    [codexLog, '.jsonl'],
    [oldCodexLog, '.jsonl'],
    [claudeSession, '.jsonl'],
    [chatFile, '.json'],
    [journal, '.jsonl'],
    [qState, '.json'],
    [wildState, '.json'],
  ] as const
  for (const [made, suffix] of PART === 'real' ? [] : generators)
    for (const text of fc.sample(made, { numRuns: RUNS, seed: 20260102 })) {
      const conversation = await conversationOf(text, suffix, folder)
      if (conversation) await tryAll(conversation, folder, generated)
    }
  const corpus = PART === 'generated' ? undefined : sharedFolder('corpus')
  if (corpus) for await (const one of conversationsIn(corpus, MAX_CONVERSATIONS)) await tryAll(one, folder, real)
  if (PART !== 'generated') for await (const one of statesBeside(folder)) await tryAll(one, folder, real)
  const path = join(import.meta.dirname, '..', '..', 'docs', 'conformance.md')
  const before = readFileSync(path, 'utf8')
  const tables = {
    real: PART === 'generated' ? tableIn(before, REAL) : real.table(),
    generated: PART === 'real' ? tableIn(before, GENERATED) : generated.table(),
  }
  const page = pageOf(tables, programsSection(before))
  console.log(page)
  if (corpus || PART === 'generated') writeFileSync(path, page)
  expect([...real.failures, ...generated.failures]).toEqual([])
})

const REAL = '## Real structures'
const GENERATED = '## Generated'

/** The table below a heading. */
const tableIn = (page: string, heading: string): string => {
  const section = page.slice(page.indexOf(heading) + heading.length)
  return `${/(?:^\|.*\n)+/m.exec(section)?.[0] ?? ''}`
}

const pageOf = (
  tables: { readonly real: string; readonly generated: string },
  programs: string,
): string => `# Conformance

\`npm run conformance\` writes every conversation in every format, reads the result, and converts it back ([how](decisions/0012-conversion.md)). The tables show its results.

- **Round trip exact**: with extensions, the conversation that comes back equals the original. For Codex: the list of response items, except ids. For message files: role, content, calls and ids of results. For Amazon Q: every entry and every field of the
  state. For the others: every record, except the reference to a handed-over line in a session that comes back under another id ([below](#what-comes-back)). Logs with content that their agent never writes are repaired, and not counted here.
- **Same bytes**: with extensions, the file that comes back is the original file, byte for byte. Counted are files that Codex, Amazon Q or Kiro wrote and nothing changed since.
- **Same content without extensions**: the texts are the same, and so are the results of the same calls. Calls that the model's server ran, such as a web search, are not compared: no other program has them. If a format must not end with a question, everything after the last answer is left out and reported.
- **Losses reported**: with extensions nothing is lost; without them the report covers every record.
- **No errors**: the target's checker, which is written independently of the writer, finds no error. Messages for a server are written for its profile.
- **Own records with errors**: an agent's own records come back unchanged, including errors that the checker already finds in the original file.
- **Warnings** are counted one by one.

## What comes back

| source | what is equal after converting it and converting it back |
|---|---|
| a log of Codex, of any version | the bytes: spelling of numbers (\`17.0\`), order of keys, and the form of its version: lines with an envelope, bare items (before 0.32), or one document (the first Codex) |
| a conversation of Amazon Q or Kiro, as in a row or as \`/save\` writes it | the bytes, with indentation and order of fields |
| a file of messages | role, content, calls and ids of results of every message, and the fields next to the messages; not the layout of the file |
| a session of Claude Code | the bytes of every record |
| a session of Gemini CLI, Qwen Code, pi, Copilot CLI, OpenCode, or of Kiro in files | every record that the program wrote. If it continued a conversation that was handed over to it, the handed-over lines still carry the records of the agent from which they came |
| a journal of fumibako | every event; the pieces of a streamed answer only if no complete answer follows |
| a file of normalized messages | every message |

This holds for conversions with extensions (the default) while the converted file is unchanged; \`--to sft\` also needs the sidecar (\`.x.json\`) beside it. After an edit, everything that was not edited comes back as it was.

The bytes of a log or conversation are not the same:

- with \`--no-extensions\`, \`--max-tokens\` or \`--cwd\`, and after \`fumi handoff\`. These write a log in which the conversation continues: in the current form, with another header
- if the log is damaged. Whole records come back on lines of their own. A record that was cut short, blank lines, a byte order mark, CRLF, NUL bytes and bytes that are not UTF-8 do not come back
- if the log is compressed (\`.zst\`): its text comes back
- if another program wrote or changed it. A missing header, missing header fields and missing times are added, and content that Codex would not read is rewritten so that it does. Spaces and escapes that Codex does not write are not preserved
- if it is no log: the output of \`codex exec --json\` comes back as a log
- if Amazon Q could not load the state: missing fields are added, and entries that cannot be read are left out and reported
- if Qwen Code or pi continued a conversation that was handed over, and the other format does not keep the session's id (\`--to sft\`, or \`--to claude-code\` under a file name that is not the id): the session comes back under a new id, the handed-over lines get new ids, and the first line that the program wrote refers to the new id of the line before it. Every other field comes back
- for files that contain several conversations: a conversation comes back as a file of its own

## Tokens

Claude Code writes a response as several records, and each repeats the tokens of the response. Adding up the records counts most of them several times; taking the first misses what was
written later. Counted once per response, with the largest report, over 71 sessions of versions 1.0 to 2.1, equal to an independent count in every session:

| sum over | output tokens |
|---|--:|
| 882 records, added up | 318,415 |
| responses, each once | 177,421 |

\`bench/generate-claude-code.mjs\` makes sessions with such repeats, sub-agents, forks, compactions and rewinds, and states what a correct reader finds in them.

${REAL}

${tables.real}
${GENERATED}

${tables.generated}
${programs}
`

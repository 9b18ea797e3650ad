/**
 * Writes an endless conversation to a journal: `writer.mjs <data directory> <id> [bytes of each answer]`. After each
 * saved event it prints `asked <n>`, `streamed <n>` or `answered <n>`; after a failure `failed <code>: <message>`.
 */
import { existsSync, writeSync } from 'node:fs'
import { createJournal, journalPath, openJournal } from '../../dist/chat/journal/journal-file.js'
import { lastNumber } from '../../dist/conversation/journal/replay.js'
import { journalOf } from '../../dist/conversation/journal/state-to-events.js'
import { NO_ENVIRONMENT, newPrompt, newResponse } from '../../dist/conversation/new-message.js'
import { newState } from '../../dist/conversation/state.js'

const [, , directory, id, size = '40'] = process.argv
const at = '2026-03-01T10:00:00.000Z'
const options = { at, cwd: '/w', program: null, env: NO_ENVIRONMENT }
const journal = existsSync(journalPath(directory, id))
  ? openJournal(directory, id, options).journal
  : createJournal(directory, journalOf(newState(id), { at }))

const say = (line) => writeSync(1, `${line}\n`)
const append = (done, ...events) => {
  try {
    journal.append(events)
    say(done)
  } catch (error) {
    say(`failed ${error.code}: ${error.message}`)
    process.exit(0)
  }
}

for (let n = Number(process.argv[5] ?? lastNumber(journal.replay.allEntries) + 1); ; n++) {
  const message = journal.state.next_message ?? newPrompt(`question ${n}`, null, NO_ENVIRONMENT)
  append(`asked ${n}`, { event: 'next_message', at, message })
  for (const text of ['ans', 'wer ', String(n)]) append(`streamed ${n}`, { event: 'delta', at, text })
  const assistant = newResponse(null, `answer ${n}`.padEnd(Number(size), '.'))
  const number = lastNumber(journal.replay.allEntries) + 1
  append(`answered ${n}`, { event: 'entry', at, number, assistant, request_metadata: null })
}

/** Measures adding a turn at 10,000 entries against 10, and the time until `fumi chat` accepts input. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_AGENT } from '../dist/chat/agent-file/agent-file.js'
import { createRecordedTransport } from '../dist/chat/endpoint/recording.js'
import { createJournal, JournalWriter } from '../dist/chat/journal/journal-file.js'
import { ChatSession } from '../dist/chat/session.js'
import { ChatSetup } from '../dist/chat/setup.js'
import { Entries } from '../dist/conversation/entries.js'
import { journalOf } from '../dist/conversation/journal/state-to-events.js'
import { NO_ENVIRONMENT, newPrompt, newResponse } from '../dist/conversation/new-message.js'
import { newState } from '../dist/conversation/state.js'
import { systemClock } from '../dist/openai/chat/transport.js'
import { PROFILES } from '../dist/openai/profile.js'
import { atMost, timesFloor } from './targets.mjs'

const WORDS = 'What was said here is as long as people write. '.repeat(10)
/** Tokens for ten entries, so that the request has the same size whatever the length of the history. */
const WINDOW = 4_000
const TURNS = 30

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]

/** In milliseconds; the answers arrive immediately. */
async function turnCost(entries) {
  const folder = mkdtempSync(join(tmpdir(), 'fumi-bench-'))
  try {
    const history = Entries.over(
      Array.from({ length: entries }, (_, n) => ({
        user: newPrompt(`${n} ${WORDS}`, null, NO_ENVIRONMENT),
        assistant: newResponse(`m${n}`, WORDS),
        request_metadata: null,
      })),
    )
    const model_info = { model_id: 'm', context_window_tokens: WINDOW }
    const state = { ...newState('c', { model_info }), history }
    const journal = createJournal(folder, journalOf(state, { at: new Date().toISOString() }))
    const journalWriter = new JournalWriter(journal, {
      clock: systemClock,
      machine: { platform: 'linux', cwd: () => folder },
      newId: randomUUID,
    })
    const transport = createRecordedTransport(Array.from({ length: TURNS + 5 }, () => newResponse('r', 'Yes.')))
    const server = { transport, profile: PROFILES.openai, model: 'm', maxRetries: 0 }
    const place = { cwd: folder, home: folder }
    const setup = new ChatSetup({
      place,
      server,
      agent: DEFAULT_AGENT,
      builtIn: [],
      autoCompact: false,
      attended: false,
    })
    const session = new ChatSession(journalWriter, setup, { data: folder, program: null })
    const costs = []
    for (let turn = 0; turn < TURNS + 5; turn++) {
      const began = performance.now()
      for await (const event of session.send('And?'))
        if (event.kind === 'ended' && event.how !== 'answered') throw new Error(event.how)
      if (turn >= 5) costs.push(performance.now() - began)
    }
    session.close()
    return median(costs)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds until the program has printed its greeting and detected the end of input. */
function startUp(args, env) {
  const costs = []
  for (let run = 0; run < 7; run++) {
    const began = performance.now()
    spawnSync(process.execPath, args, { env: { ...process.env, ...env }, input: '' })
    costs.push(performance.now() - began)
  }
  return median(costs)
}

export async function benchChat() {
  const few = await turnCost(10)
  const many = await turnCost(10_000)
  const home = mkdtempSync(join(tmpdir(), 'fumi-bench-'))
  const main = join(import.meta.dirname, '..', 'dist', 'bin', 'fumi.js')
  const profiles = { b: { url: 'http://127.0.0.1:9/v1', model: 'm', window: WINDOW } }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ profiles }))
  const bare = startUp(['-e', '0'], {})
  const chat = startUp([main, 'chat', '--profile', 'b'], { FUMI_HOME: home })
  rmSync(home, { recursive: true, force: true })
  return {
    note: 'A turn is answered at once; the start ends when it sees that nobody types.',
    rows: [
      timesFloor('a turn at 10,000 entries, of one at 10, as much sent', 1.5, many, few),
      atMost('start of `fumi chat`, within 2 × Node + 150 ms', 2 * bare + 150, chat, 'ms', bare),
    ],
  }
}

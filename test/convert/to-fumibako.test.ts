/** Conversations as journals: replay gives the same content, and our own ones are identical after a round trip. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allAgents } from '../../src/agents/load-agents.ts'
import { openBackupDatabase } from '../../src/backup/backup-database.ts'
import { openJournal } from '../../src/chat/journal/journal-file.ts'
import { readJournal } from '../../src/conversation/journal/event.ts'
import { type Replay, replayJournal } from '../../src/conversation/journal/replay.ts'
import { promptOf } from '../../src/conversation/message-text.ts'
import { NO_ENVIRONMENT } from '../../src/conversation/new-message.ts'
import { handoff } from '../../src/convert/handoff.ts'
import { dataDirectory } from '../../src/lib/files/data-directory.ts'
import type { NormalizedMessage } from '../../src/model/normalized.ts'
import * as log from '../support/codex-log.ts'
import { convertTo, writeSourceFile } from './conversions.ts'

const FIXTURES = join(import.meta.dirname, '../../src/agents/fumibako/fixtures')
const fixture = (name: string): string => readFileSync(join(FIXTURES, `${name}.jsonl`), 'utf8')
const place = log.tempFolder()

function foldOf(text: string): Replay {
  const { events, issues } = readJournal(text)
  expect(issues).toEqual([])
  return replayJournal(events)
}

const promptsIn = ({ state }: Replay): readonly unknown[] => state.history.toArray().map(({ user }) => promptOf(user))

const codexSession = () => writeSourceFile('codex', log.text(log.shortSession()), '.jsonl')

it('replays to the exchanges of the other program, numbered, with the displayed lines', async () => {
  const { path, report } = await convertTo(await codexSession(), 'fumibako')
  const fold = foldOf(readFileSync(path, 'utf8'))
  expect(fold.faults.length).toBe(0)
  expect(promptsIn(fold)[0]).toBe('List the files, please.')
  expect(fold.allEntries.toArray().map(({ number }) => number)).toEqual(
    fold.state.history.toArray().map((_, at) => at + 1),
  )
  expect(fold.state.transcript.at(0)).toBe('> List the files, please.')
  expect(fold.state.conversation_id).toBe(log.THREAD)
  expect(report.losses.filter(({ kept_in }) => kept_in === null)).toEqual([])
})

it.each(['codex', 'amazon-q', 'openai', 'normalized'])('replays to the same state after %s', async (other) => {
  for (const name of ['talk', 'turns', 'copied', 'streaming']) {
    const there = await convertTo(await writeSourceFile('fumibako', fixture(name), '.jsonl'), other)
    const back = await convertTo({ agent: there.agent, source: there.source }, 'fumibako')
    const fold = foldOf(readFileSync(back.path, 'utf8'))
    expect(fold).toEqual(foldOf(fixture(name)))
  }
})

it('keeps the prompt when only the answer changed, and continues with its own lines', async () => {
  const from = await writeSourceFile('fumibako', fixture('talk'), '.jsonl')
  const edited = (message: NormalizedMessage): NormalizedMessage => {
    const [first] = message.segments
    if (first?.text !== 'There are notes.md and tide.ts.') return message
    const x_conv = { ...(message.metadata?.['x_conv'] as object), stale: true }
    return { ...message, segments: [{ ...first, text: 'Two files.' }], metadata: { ...message.metadata, x_conv } }
  }
  const beside = async function* (messages: AsyncIterable<NormalizedMessage>) {
    for await (const message of messages) yield edited(message)
  }
  const changed = await convertTo({ ...from, beside }, 'fumibako')
  const fold = foldOf(readFileSync(changed.path, 'utf8'))
  const there = await convertTo({ agent: changed.agent, source: changed.source }, 'codex')
  const again = await convertTo({ agent: there.agent, source: there.source }, 'fumibako')
  expect(foldOf(readFileSync(again.path, 'utf8'))).toEqual(fold)
  const wanted = foldOf(fixture('talk'))
  expect(promptsIn(fold)).toEqual(promptsIn(wanted))
  expect(fold.state.history.at(1)?.user).toEqual(wanted.state.history.at(1)?.user)
  expect(fold.state.history.at(1)?.assistant).toMatchObject({ Response: { content: 'Two files.' } })
  expect(fold.state.history.at(3)).toEqual(wanted.state.history.at(3))
})

it('is handed over to the place where a chat resumes it', async () => {
  const environment = { platform: 'linux', home: place, variables: {} } as const
  const directory = dataDirectory(environment)
  mkdirSync(directory, { recursive: true })
  const done = await handoff(await codexSession(), 'fumibako', {
    agents: await allAgents(),
    environment,
    directory,
    keep: openBackupDatabase(directory),
    cwd: place,
    now: () => new Date('2026-07-08T09:10:11.000Z'),
    newId: () => '019f0000-0000-7000-8000-000000000000',
  })
  expect(done.resume).toMatchObject({ program: 'fumi', arguments: ['chat', '--resume', log.THREAD] })
  const at = '2026-07-08T09:11:00.000Z'
  const opened = openJournal(directory, log.THREAD, { at, cwd: null, program: null, env: NO_ENVIRONMENT })
  expect(opened.issues).toEqual([])
  expect(promptsIn(opened.journal.replay)[0]).toBe('List the files, please.')
  opened.journal.close()
})

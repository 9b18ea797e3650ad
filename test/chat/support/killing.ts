/** Kills a conversation that uses tools at chosen moments, and looks whether anything that was told is lost. */
import { expect } from 'vitest'
import { openJournal } from '../../../src/chat/journal-file.ts'
import { journalNamed } from '../../../src/chat/open/find-journal.ts'
import type { TalkEvent } from '../../../src/chat/turn/event.ts'
import { NO_ENVIRONMENT } from '../../../src/conversation/create.ts'
import { promptOf } from '../../../src/conversation/render.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { chatServer, type Reply } from '../../support/model-server.ts'
import { type ChatHome, chatHome, fumiChat } from './fumi-chat.ts'

/** Two tools, then one more, then words: told by what the request ends with, so that it can be gone on with anywhere. */
const script: Reply = (asked, response) => {
  const { messages = [] } = asked.body
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const results = since.filter(({ role }) => role === 'tool').length
  const id = `call_${messages.length}`
  const run = (n: number) => ({ id: `${id}_${n}`, name: 'execute_bash', args: { command: `echo ${id} ${n}` } })
  if (results === 0) return calls([run(1), run(2)], 'Two at once. ')(asked, response)
  if (results === 2) return calls([run(3)], 'And one. ')(asked, response)
  return answer(`All is done ${messages.length}, and here are some words more.`)(asked, response)
}

/** @param moments after how many events each run is killed */
export async function survivesKills(moments: readonly number[]): Promise<void> {
  const server = await chatServer(...Array.from({ length: moments.length * 6 + 6 }, () => script))
  const place = chatHome()
  const args = ['--base-url', server.baseURL, '--model', 'm', '--trust-all-tools', '--no-interactive', '--json']
  const told = new Map<number, string>()
  let asked = 0
  for (const moment of [...moments, Number.POSITIVE_INFINITY]) {
    const prompt = `question ${++asked}`
    const events: TalkEvent[] = []
    const { err } = await fumiChat([...args, ...(asked > 1 ? ['--resume'] : []), prompt], place, '', (line) => {
      events.push(JSON.parse(line) as TalkEvent)
      return events.length === moment
    })
    expect(err).toBe('')
    for (const event of events) if (event.kind === 'entry') told.set(event.number, JSON.stringify(event.assistant))
    inspect(place, events, told, prompt)
    if (moment === Number.POSITIVE_INFINITY) expect(events.at(-1)).toMatchObject({ kind: 'ended', how: 'answered' })
  }
}

function inspect(
  { home, cwd }: ChatHome,
  events: readonly TalkEvent[],
  told: ReadonlyMap<number, string>,
  prompt: string,
) {
  const { journal, issues } = openJournal(home, journalNamed(home, ''), {
    at: new Date().toISOString(),
    cwd,
    program: null,
    env: NO_ENVIRONMENT,
  })
  try {
    expect(issues).toEqual([])
    expect([...journal.replay.faults]).toEqual([])
    const entries = new Map(Array.from(journal.replay.told, ({ number, entry }) => [number, entry]))
    for (const [number, assistant] of told) expect(JSON.stringify(entries.get(number)?.assistant)).toBe(assistant)
    const { next_message } = journal.state
    const users = [...[...entries.values()].map(({ user }) => user), ...(next_message ? [next_message] : [])]
    if (events.some(({ kind }) => kind === 'started')) expect(users.map((user) => promptOf(user))).toContain(prompt)
    const all = JSON.stringify([...entries.values(), next_message])
    for (const event of events)
      if (event.kind === 'tool_done') expect(all).toContain(JSON.stringify(event.result.content))
    // The words of an answer that was not whole yet.
    const last = events.findLastIndex(({ kind }) => kind === 'started')
    const words = events
      .slice(last)
      .map((event) => (event.kind === 'delta' ? event.text : ''))
      .join('')
    expect(all).toContain(JSON.stringify(words).slice(1, -1))
  } finally {
    journal.close()
  }
}

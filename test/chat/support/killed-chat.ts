/** Kills a conversation with tools at given moments and checks that nothing reported is lost. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { findJournal } from '../../../src/chat/journal/find-journal.ts'
import { openJournal } from '../../../src/chat/journal/journal-file.ts'
import { promptOf } from '../../../src/conversation/message-text.ts'
import { NO_ENVIRONMENT } from '../../../src/conversation/new-message.ts'
import { listEntries } from '../../../src/lib/files/safe-fs.ts'
import { parseStructure } from '../../../src/lib/unknown-values.ts'
import { answer, calls } from '../../support/model-chunks.ts'
import { chatServer, type Reply } from '../../support/model-server.ts'
import { type ChatHome, chatHome, fumiChat } from './fumi-chat.ts'

/**
 * Two tools, then one more, then text. Each reply depends only on the end of the request, so the conversation can be
 * resumed anywhere.
 */
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

/** An event as `--json` prints it. */
interface JsonEvent {
  readonly kind: string
  readonly text?: string
  readonly number?: number
  readonly assistant?: object
  readonly result?: { readonly content: object }
}

/** When to kill a run. The first word is the kind of event after which it is killed. */
export type Moment =
  | { readonly after: 'events'; readonly count: number }
  | { readonly after: 'start' | 'first word'; readonly ms: number }
  | { readonly after: 'never' }

/** Each run resumes what the previous one left. The last run must complete. */
export async function survivesKills(moments: readonly Moment[]): Promise<void> {
  const server = await chatServer(...Array.from({ length: moments.length * 6 + 6 }, () => script))
  const place = chatHome()
  const reported = new Map<number, string>()
  let asked = 0
  for (const moment of [...moments, { after: 'never' } as const]) {
    const prompt = `question ${++asked}`
    const { events } = await runUntil(server.baseURL, place, prompt, moment)
    for (const event of events)
      if (event.number !== undefined) reported.set(event.number, JSON.stringify(event.assistant))
    if (hasJournal(place)) checkJournal(place, events, reported, prompt)
    if (moment.after === 'never') expect(events.at(-1)).toMatchObject({ kind: 'ended', how: 'answered' })
  }
}

/** Random moments: one in five during the start, the others during the conversation, within its usual duration. */
export async function randomMoments(count: number, random: () => number): Promise<readonly Moment[]> {
  const server = await chatServer(script, script, script)
  const began = performance.now()
  const { firstWord, end } = await runUntil(server.baseURL, chatHome(), 'How long?', { after: 'never' })
  return Array.from({ length: count }, (_, at): Moment => {
    if (at % 5 === 0) return { after: 'start', ms: Math.round(random() * (firstWord - began)) }
    return { after: 'first word', ms: Math.round(random() * (end - firstWord)) }
  })
}

interface Run {
  readonly events: readonly JsonEvent[]
  readonly firstWord: number
  readonly end: number
}

async function runUntil(baseURL: string, place: ChatHome, prompt: string, moment: Moment): Promise<Run> {
  const args = ['--base-url', baseURL, '--model', 'm', '--trust-all-tools', '--no-interactive', '--json']
  const events: JsonEvent[] = []
  let firstWord = 0
  const onLine = (line: string): number | undefined => {
    const event = parseStructure(line)
    // A killed process may leave an incomplete last line.
    if (event) events.push(event as JsonEvent)
    if (events.length === 1) firstWord = performance.now()
    if (moment.after === 'events') return events.length === moment.count ? 0 : undefined
    return moment.after === 'first word' && events.length === 1 ? moment.ms : undefined
  }
  const killAfter = moment.after === 'start' ? moment.ms : undefined
  const resume = hasJournal(place) ? ['--resume'] : []
  const { err } = await fumiChat([...args, ...resume, prompt], place, '', onLine, {}, killAfter)
  expect(err).toBe('')
  return { events, firstWord, end: performance.now() }
}

const hasJournal = ({ home }: ChatHome): boolean =>
  listEntries(join(home, 'conversations')).some(({ name }) => name.endsWith('.jsonl'))

/** Reproducible numbers between 0 and 1. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** The seed, as for property tests: `FUMI_SEED`, or a constant. Printed, so that a failure can be reproduced. */
export function seedOfRun(usual: number | 'random'): number {
  const wanted = process.env['FUMI_SEED'] ?? String(usual)
  const seed = wanted === 'random' ? Math.floor(Math.random() * 2 ** 32) : Number(wanted)
  console.log(`killed at random moments; again with FUMI_SEED=${seed}`)
  return seed
}

function checkJournal(
  { home, cwd }: ChatHome,
  events: readonly JsonEvent[],
  reported: ReadonlyMap<number, string>,
  prompt: string,
) {
  const { journal, issues } = openJournal(home, findJournal(home, ''), {
    at: new Date().toISOString(),
    cwd,
    program: null,
    env: NO_ENVIRONMENT,
  })
  try {
    expect(issues).toEqual([])
    expect([...journal.replay.faults]).toEqual([])
    const entries = new Map(Array.from(journal.replay.allEntries, ({ number, entry }) => [number, entry]))
    for (const [number, assistant] of reported) expect(JSON.stringify(entries.get(number)?.assistant)).toBe(assistant)
    const { next_message } = journal.state
    const users = [...[...entries.values()].map(({ user }) => user), ...(next_message ? [next_message] : [])]
    if (events.some(({ kind }) => kind === 'started')) expect(users.map((user) => promptOf(user))).toContain(prompt)
    const all = JSON.stringify([...entries.values(), next_message])
    for (const event of events) if (event.result) expect(all).toContain(JSON.stringify(event.result.content))
    // Text of an answer that was not complete.
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

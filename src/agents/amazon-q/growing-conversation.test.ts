import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Exchange, stateOf } from '../../../test/support/amazon-q-store.ts'
import { tempFolder } from '../../../test/support/codex-log.ts'
import { readAll, roundTrip } from '../../../test/support/fixtures.ts'
import type { Cursor, ReadItem, Source } from '../agent.ts'
import amazonQ from './agent.ts'

const exchange = (n: number): Exchange => ({
  prompt: `question ${n}`,
  answer: `answer ${n}`,
  tools: n % 3 === 1 ? ['fs_read'] : [],
})
const exchanges = (n: number): readonly Exchange[] => Array.from({ length: n }, (_, at) => exchange(at))

function conversation() {
  const path = join(tempFolder(), 'talk.json')
  const source: Source = { agent: 'amazon-q', path }
  const write = (count: number, more: object = {}): void => writeFileSync(path, stateOf('c-1', exchanges(count), more))
  return { source, write }
}

const cursorOf = (reads: readonly ReadItem[]): Cursor => {
  const one = reads.findLast(({ kind }) => kind === 'cursor')
  if (one?.kind !== 'cursor') throw new Error('no cursor')
  return roundTrip(one.cursor)
}

describe('a conversation that grows', () => {
  test('keeps its ids, and reading continues from the cursor', async () => {
    const { source, write } = conversation()
    write(4)
    const before = await readAll(amazonQ, source)
    write(7)
    const complete = await readAll(amazonQ, source)
    const ids = before.messages.filter(({ raw }) => raw.line_index > 0).map(({ id }) => id)
    expect(complete.messages.slice(0, ids.length).map(({ id }) => id)).toEqual(ids)
    const more = await readAll(amazonQ, source, cursorOf(before.reads))
    expect(more.messages).toEqual(complete.messages.slice(ids.length))
    expect(more.session).toEqual(complete.session)
  })

  test('in the middle of a tool call: the result still finds its call', async () => {
    const { source, write } = conversation()
    const entries = JSON.parse(stateOf('c-1', exchanges(2))).history
    write(0, { history: entries.slice(0, 2), valid_history_range: [0, 2] })
    const before = await readAll(amazonQ, source)
    write(2)
    const { messages } = await readAll(amazonQ, source, cursorOf(before.reads))
    expect(messages.find(({ source_type }) => source_type === 'tool_result')?.tool_call?.name).toBe('fs_read')
  })

  test('the id of a waiting message is the one it has when it is answered', async () => {
    const { source, write } = conversation()
    const next_message = JSON.parse(stateOf('x', [exchange(3)])).history[0].user
    write(3, { next_message })
    const waiting = (await readAll(amazonQ, source)).messages.find(({ metadata }) => metadata?.['pending'])
    write(4)
    expect((await readAll(amazonQ, source)).messages.map(({ id }) => id)).toContain(waiting?.id)
  })

  test('is read from the start if it was replaced or its sent range moved', async () => {
    const { source, write } = conversation()
    write(4)
    const cursor = cursorOf((await readAll(amazonQ, source)).reads)
    writeFileSync(source.path, stateOf('c-2', [exchange(9), exchange(8), exchange(7), exchange(6), exchange(5)]))
    const other = await readAll(amazonQ, source, cursor)
    expect(other.issues.map(({ code }) => code)).toEqual(['changed_while_read'])
    expect(other.messages[0]?.segments[0]?.text).toBe('question 9')
    write(4, { valid_history_range: [2, 5] })
    const moved = await readAll(amazonQ, source, cursor)
    expect(moved.messages[0]?.metadata?.['valid_range']).toBe('cut')
  })

  test('continues counting after entries that are backed up elsewhere', async () => {
    const { source, write } = conversation()
    write(2)
    const { messages } = await readAll(amazonQ, { ...source, first_entry: 41 })
    expect(messages[0]?.id).toMatch(/#41$/)
    for (const one of (await readAll(amazonQ, { ...source, first_entry: 41 })).reads)
      if (one.kind === 'message')
        expect(await amazonQ.readMessage({ ...source, first_entry: 41 }, one.locator)).toEqual(one.message)
  })
})
